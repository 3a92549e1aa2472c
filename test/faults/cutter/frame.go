// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package cutter

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Codes that a connection may begin with instead of a protocol version.
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSS    = 80877104
)

// maxMessage is the longest message that is taken for one; Postgres allows 1 GiB.
const maxMessage = 1 << 30

const headerBytes = 5

// frame is one message of the protocol: its type, its length and its body, as it is on the wire.
type frame []byte

func (f frame) kind() byte   { return f[0] }
func (f frame) body() []byte { return f[headerBytes:] }

// readFrame reads a message into buffer, which it grows if it must.
func readFrame(r *bufio.Reader, buffer frame) (frame, error) {
	header, err := r.Peek(headerBytes)
	if err != nil {
		return buffer, err
	}
	length := binary.BigEndian.Uint32(header[1:])
	if length < 4 || length > maxMessage {
		return buffer, fmt.Errorf("a message of %d bytes", length)
	}
	total := 1 + int(length)
	if cap(buffer) < total {
		buffer = make(frame, total)
	}
	buffer = buffer[:total]
	_, err = io.ReadFull(r, buffer)
	return buffer, err
}

// readStartup reads the first message of a connection, which has no type.
func readStartup(r *bufio.Reader) (message []byte, code uint32, err error) {
	header, err := r.Peek(8)
	if err != nil {
		return nil, 0, err
	}
	length := binary.BigEndian.Uint32(header)
	if length < 8 || length > 10_000 {
		return nil, 0, fmt.Errorf("a startup message of %d bytes", length)
	}
	message = make([]byte, length)
	_, err = io.ReadFull(r, message)
	return message, binary.BigEndian.Uint32(message[4:]), err
}
