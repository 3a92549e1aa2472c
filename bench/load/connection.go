// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// maxAnswer is the longest answer that is read, head and body.
const maxAnswer = 16 << 10

var (
	endOfHead     = []byte("\r\n\r\n")
	contentLength = []byte("\r\nContent-Length: ")
	closing       = []byte("\r\nConnection: close\r\n")
)

// connection sends one request at a time.
type connection struct {
	target   Target
	deadline time.Time
	request  *request
	conn     net.Conn
	answer   []byte
}

func newConnection(to Target, deadline time.Time) *connection {
	return &connection{target: to, deadline: deadline, request: newRequest(to), answer: make([]byte, maxAnswer)}
}

func (c *connection) open(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", c.target.Address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := conn.SetDeadline(c.deadline); err != nil {
		return errors.Join(fmt.Errorf("connect: %w", err), conn.Close())
	}
	c.conn = conn
	return nil
}

func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// exchange sends the request of the number and returns the status of the answer. After an error the next exchange opens
// the connection anew.
func (c *connection) exchange(ctx context.Context, n Number, now time.Time) (status int, err error) {
	if err := c.open(ctx); err != nil {
		return 0, err
	}
	c.request.prepare(n, now)
	if _, err = c.conn.Write(c.request.bytes); err == nil {
		var last bool
		if status, last, err = c.read(); err == nil && !last {
			return status, nil
		}
	}
	c.close()
	return status, err
}

// read reads one answer, and says whether it is the last one of the connection.
func (c *connection) read() (status int, last bool, err error) {
	n := 0
	for {
		m, err := c.conn.Read(c.answer[n:])
		n += m
		got := c.answer[:n]
		if head := bytes.Index(got, endOfHead); head >= 0 {
			status, length, err := parseHead(got[:head+2])
			if err != nil {
				return status, true, err
			}
			if n >= head+len(endOfHead)+length {
				return status, bytes.Contains(got[:head+2], closing), nil
			}
		}
		if err != nil {
			return 0, true, fmt.Errorf("read the answer: %w", err)
		}
		if n == len(c.answer) {
			return 0, true, errors.New("the answer is too long")
		}
	}
}

func parseHead(head []byte) (status, length int, err error) {
	if len(head) < len("HTTP/1.1 200") {
		return 0, 0, errors.New("the answer is no HTTP")
	}
	if status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return 0, 0, fmt.Errorf("read the status: %w", err)
	}
	_, rest, found := bytes.Cut(head, contentLength)
	if !found {
		return status, 0, errors.New("the answer has no Content-Length")
	}
	value, _, _ := bytes.Cut(rest, []byte("\r\n"))
	if length, err = strconv.Atoi(string(value)); err != nil {
		return status, 0, fmt.Errorf("read the Content-Length: %w", err)
	}
	return status, length, nil
}
