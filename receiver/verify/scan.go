// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errDuplicateName = errors.New("a member that is read is there twice")
	errTrailingData  = errors.New("there is more than one value")
	errNoBatch       = errors.New("the events of the batch are not where they should be")
)

// lenient is how documents are read: what a name that is not read, or a text in it, looks like is not our business.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// kind is what was found where a value may be.
type kind int

const (
	// absent: not there, null, or the empty string; the next source is asked.
	absent kind = iota
	// text is a JSON string or a header.
	text
	// number is a JSON number.
	number
	// boolean is true or false.
	boolean
	// other is a JSON object or array: nothing that a text can be made of.
	other
)

// value is what was found at one place, as it is written; strings are unescaped. Its text may be a part of the document.
type value struct {
	kind kind
	text []byte
}

// node is a place in a document that is read, or on the way to one.
type node struct {
	name string
	// index of the value that is here; -1 if none is read.
	index    int
	children []*node
	// id is the place of this node in scratch.seen.
	id int
}

// scan puts the values of the tree into s.values. The whole document must be JSON; names may be repeated and strings may be
// invalid UTF-8 where nothing is read, but not on the way to a wanted value. It reads the bytes in place; the depth of what
// it skips is bounded by the tokenizer (10,000), and its own recursion by the length of the paths.
func (s *scratch) scan(document []byte, root *node) error {
	clear(s.values)
	s.open(document)
	err := s.value(root)
	return s.close(document, err)
}

func (s *scratch) open(document []byte) {
	s.reader = *bytes.NewBuffer(document)
	s.decoder.Reset(&s.reader, lenient...)
}

// close checks that nothing follows the value that was read.
func (s *scratch) close(document []byte, err error) error {
	if err == nil {
		if _, end := s.decoder.ReadToken(); !errors.Is(end, io.EOF) {
			err = errTrailingData
		}
	}
	if len(document) > maxKept {
		// Or the decoder would hold on to it until the next request.
		s.reader = bytes.Buffer{}
		s.decoder.Reset(&s.reader)
	}
	return err
}

// value reads the next value, which is at n.
func (s *scratch) value(n *node) error {
	next := s.decoder.PeekKind()
	if next == jsontext.KindBeginObject && len(n.children) > 0 {
		if n.index >= 0 {
			s.values[n.index].kind = other
		}
		return s.object(n)
	}
	raw, err := s.decoder.ReadValue()
	if err != nil {
		return fmt.Errorf("read a value: %w", err)
	}
	if n.index >= 0 {
		s.values[n.index] = valueOf(next, raw)
	}
	return nil
}

func valueOf(next jsontext.Kind, raw jsontext.Value) value {
	switch next {
	case jsontext.KindNull:
		return value{}
	case jsontext.KindTrue, jsontext.KindFalse:
		return value{boolean, raw}
	case jsontext.KindNumber:
		return value{number, raw}
	case jsontext.KindString:
		if content := unquote(nil, raw); len(content) > 0 {
			return value{text, content}
		}
		return value{}
	default:
		return value{kind: other}
	}
}

// unquote returns what a JSON string says: a part of it if nothing is escaped, and otherwise appended to room. What is no
// Unicode is replaced, which is its only error.
func unquote(room []byte, raw jsontext.Value) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	content, _ := jsontext.AppendUnquote(room, raw)
	return content
}

// object reads an object some of whose members are read.
func (s *scratch) object(n *node) error {
	for _, child := range n.children {
		s.seen[child.id] = false
	}
	return s.members(func(name []byte) error {
		for _, child := range n.children {
			if child.name != string(name) {
				continue
			}
			if s.seen[child.id] {
				return errDuplicateName
			}
			s.seen[child.id] = true
			return s.value(child)
		}
		return s.skip()
	})
}

// members reads an object and calls read in front of each member's value.
func (s *scratch) members(read func(name []byte) error) error {
	if _, err := s.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read an object: %w", err)
	}
	for s.decoder.PeekKind() != jsontext.KindEndObject {
		raw, err := s.decoder.ReadValue()
		if err != nil {
			return fmt.Errorf("read a name: %w", err)
		}
		if err := read(unquote(s.name[:0], raw)); err != nil {
			return err
		}
	}
	if _, err := s.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read the end of an object: %w", err)
	}
	return nil
}

func (s *scratch) skip() error {
	if _, err := s.decoder.ReadValue(); err != nil {
		return fmt.Errorf("skip a value: %w", err)
	}
	return nil
}
