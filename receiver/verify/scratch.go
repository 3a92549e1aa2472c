// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"crypto/sha512"

	"github.com/go-json-experiment/json/jsontext"
)

// maxKept is how large a buffer may be, in bytes, to be kept for the next request.
const maxKept = 16 << 10

// scratch is the memory that one request needs and the next one can use again. Nothing that Verify returns refers to it.
type scratch struct {
	macs    []keyedMAC
	matches []bool
	sum     [sha512.Size]byte
	// candidates are the decoded signatures, one behind the other.
	candidates []byte
	// text is what is being decoded.
	text []byte
	// message is the string to sign without the body, which belongs at split; other is another way in which the sender may
	// have written it, or empty.
	message, other []byte
	split          int

	reader  bytes.Buffer
	decoder *jsontext.Decoder
	values  []value
	seen    []bool
	name    []byte
}

func (v *Verifier) newScratch() *scratch {
	return &scratch{decoder: jsontext.NewDecoder(new(bytes.Buffer)), values: make([]value, v.paths), seen: make([]bool, v.nodes)}
}

func (v *Verifier) scratch() *scratch {
	s, ok := v.pool.Get().(*scratch)
	if !ok {
		return v.newScratch()
	}
	return s
}

// release gives the memory back, without anything that holds on to the request's.
func (v *Verifier) release(s *scratch) {
	clear(s.values)
	s.candidates, s.text = keep(s.candidates), keep(s.text)
	s.message, s.other, s.name = keep(s.message), keep(s.other), keep(s.name)
	s.reader = bytes.Buffer{}
	v.pool.Put(s)
}

func keep(buffer []byte) []byte {
	if cap(buffer) > maxKept {
		return nil
	}
	return buffer[:0]
}
