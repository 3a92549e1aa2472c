// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errDuplicateName = errors.New("a member that is read is there twice")
	errTrailingData  = errors.New("there is more than one value")
)

// scanner walks one JSON document token by token and keeps the values at the wanted paths. It reads the bytes in place;
// the depth of what it skips is bounded by the tokenizer (10,000), and its own recursion by the length of the paths.
type scanner struct {
	decoder *jsontext.Decoder
	paths   [][]string
	values  []value
}

// scan returns the value at each path. The whole document must be JSON; names may be repeated and strings may be invalid
// UTF-8 where nothing is read, but not on the way to a wanted value. Without paths the body may be anything.
func scan(body []byte, paths [][]string) ([]value, error) {
	values := make([]value, len(paths))
	if len(paths) == 0 {
		return values, nil
	}
	s := &scanner{
		decoder: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		paths:   paths,
		values:  values,
	}
	all := make([]int, len(paths))
	for i := range paths {
		all[i] = i
	}
	if err := s.value(all, 0); err != nil {
		return nil, err
	}
	if _, err := s.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailingData
	}
	return s.values, nil
}

// value reads the next value, which is at the first depth names of the paths in active.
func (s *scanner) value(active []int, depth int) error {
	kind := s.decoder.PeekKind()
	var deeper []int
	for _, i := range active {
		if len(s.paths[i]) > depth {
			deeper = append(deeper, i)
		} else {
			s.values[i].kind = other
		}
	}
	if kind == jsontext.KindBeginObject && len(deeper) > 0 {
		return s.object(deeper, depth)
	}
	if kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray {
		return s.skip()
	}
	token, err := s.decoder.ReadToken()
	if err != nil {
		return fmt.Errorf("read a value: %w", err)
	}
	found := valueOf(token)
	for _, i := range active {
		if len(s.paths[i]) == depth {
			s.values[i] = found
		}
	}
	return nil
}

func valueOf(token jsontext.Token) value {
	kind := token.Kind()
	if kind == jsontext.KindNumber {
		return value{kind: number, text: token.String()}
	}
	if kind == jsontext.KindNull {
		return value{}
	}
	if kind != jsontext.KindString {
		return value{kind: other}
	}
	if content := token.String(); content != "" {
		return value{kind: text, text: content}
	}
	return value{}
}

// object reads an object whose members some of the paths go through.
func (s *scanner) object(active []int, depth int) error {
	if _, err := s.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read an object: %w", err)
	}
	var seen []string
	for s.decoder.PeekKind() != jsontext.KindEndObject {
		token, err := s.decoder.ReadToken()
		if err != nil {
			return fmt.Errorf("read a name: %w", err)
		}
		name := token.String()
		wanted := s.wanted(active, depth, name)
		if len(wanted) == 0 {
			if err := s.skip(); err != nil {
				return err
			}
			continue
		}
		if slices.Contains(seen, name) {
			return errDuplicateName
		}
		seen = append(seen, name)
		if err := s.value(wanted, depth+1); err != nil {
			return err
		}
	}
	if _, err := s.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read the end of an object: %w", err)
	}
	return nil
}

func (s *scanner) wanted(active []int, depth int, name string) []int {
	var wanted []int
	for _, i := range active {
		if s.paths[i][depth] == name {
			wanted = append(wanted, i)
		}
	}
	return wanted
}

func (s *scanner) skip() error {
	if err := s.decoder.SkipValue(); err != nil {
		return fmt.Errorf("skip a value: %w", err)
	}
	return nil
}
