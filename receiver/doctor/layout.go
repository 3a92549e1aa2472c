// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth of a document that is written anew.
const maxDepth = 200

var errTooDeep = errors.New("the document is nested too deeply")

// element is a JSON value that keeps the order of its members, and its numbers as they are written.
type element struct {
	kind jsontext.Kind
	// text of a number, a literal or a string, the last unescaped.
	text string
	// names of the members of an object, and what objects and arrays hold.
	names []string
	inner []*element
}

// layout is where blanks are.
type layout struct {
	name                 string
	afterComma, afterKey string
	indent               string
}

var layouts = []layout{
	{"compact JSON", "", "", ""},
	{"JSON with a blank after each comma and colon, as Python writes it", " ", " ", ""},
	{"JSON with a blank after each colon", "", " ", ""},
	{"JSON indented by 2", "", " ", "  "},
	{"JSON indented by 4", "", " ", "    "},
	{"JSON indented by tabs", "", " ", "\t"},
}

// escapes are the characters of strings that are escaped though they need not be.
type escapes struct {
	name               string
	ascii, html, slash bool
}

var escapeStyles = []escapes{
	{"", false, false, false},
	{"\\u escapes for what is not ASCII", true, false, false},
	{"\\u escapes for <, > and &", false, true, false},
	{"escaped slashes", false, false, true},
	{"\\u escapes for what is not ASCII and escaped slashes", true, false, true},
}

// style is one way to write a document.
type style struct {
	layout  layout
	escapes escapes
	sorted  bool
}

// styles yields all of them.
func styles(yield func(style) bool) {
	for _, layout := range layouts {
		for _, escapes := range escapeStyles {
			for _, sorted := range []bool{false, true} {
				if !yield(style{layout: layout, escapes: escapes, sorted: sorted}) {
					return
				}
			}
		}
	}
}

func (s style) String() string {
	text := s.layout.name
	if s.sorted {
		text += ", with sorted names"
	}
	if s.escapes.name != "" {
		text += ", with " + s.escapes.name
	}
	return text
}

// parseDocument reads one JSON value.
func parseDocument(body []byte) (*element, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	document, err := readElement(decoder, 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return document, nil
}

func readElement(decoder *jsontext.Decoder, depth int) (*element, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("read a value: %w", err)
	}
	e := &element{kind: token.Kind()}
	if e.kind != jsontext.KindBeginObject && e.kind != jsontext.KindBeginArray {
		e.text = token.String()
		return e, nil
	}
	for decoder.PeekKind() != jsontext.KindEndObject && decoder.PeekKind() != jsontext.KindEndArray {
		if e.kind == jsontext.KindBeginObject {
			name, err := decoder.ReadToken()
			if err != nil {
				return nil, fmt.Errorf("read a name: %w", err)
			}
			e.names = append(e.names, name.String())
		}
		inner, err := readElement(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		e.inner = append(e.inner, inner)
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, fmt.Errorf("read an end: %w", err)
	}
	return e, nil
}

// write replaces what is in out. It says whether that is the whole document: one that gets too large is given up.
func (e *element) write(out *bytes.Buffer, s style) bool {
	out.Reset()
	e.writeTo(out, s, 0)
	return out.Len() <= maxWritten
}

func (e *element) writeTo(out *bytes.Buffer, s style, depth int) {
	switch e.kind {
	case jsontext.KindString:
		writeString(out, e.text, s.escapes)
		return
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
	default:
		out.WriteString(e.text)
		return
	}
	begin, end := byte(e.kind), byte(']')
	if e.kind == jsontext.KindBeginObject {
		end = '}'
	}
	out.WriteByte(begin)
	for i, at := range e.order(s.sorted) {
		if out.Len() > maxWritten {
			return
		}
		if i > 0 {
			out.WriteString("," + s.layout.afterComma)
		}
		newLine(out, s.layout, depth+1)
		if e.names != nil {
			writeString(out, e.names[at], s.escapes)
			out.WriteString(":" + s.layout.afterKey)
		}
		e.inner[at].writeTo(out, s, depth+1)
	}
	if len(e.inner) > 0 {
		newLine(out, s.layout, depth)
	}
	out.WriteByte(end)
}

// order returns the places of the members in the order in which they are written.
func (e *element) order(sorted bool) []int {
	order := make([]int, len(e.inner))
	for i := range order {
		order[i] = i
	}
	if sorted && e.names != nil {
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(e.names[a], e.names[b]) })
	}
	return order
}

func newLine(out *bytes.Buffer, l layout, depth int) {
	if l.indent != "" {
		out.WriteByte('\n')
		for range depth {
			out.WriteString(l.indent)
		}
	}
}

var shortEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

func writeString(out *bytes.Buffer, text string, e escapes) {
	out.WriteByte('"')
	for _, r := range text {
		short, isShort := shortEscapes[r]
		switch {
		case isShort:
			out.WriteString(short)
		case r == '/' && e.slash:
			out.WriteString(`\/`)
		case r < 0x20, e.html && (strings.ContainsRune("<>&", r) || r == '\u2028' || r == '\u2029'), e.ascii && r > 0x7e:
			writeEscape(out, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

func writeEscape(out *bytes.Buffer, r rune) {
	for _, unit := range utf16.Encode([]rune{r}) {
		digits := strconv.FormatUint(uint64(unit), 16)
		out.WriteString(`\u` + strings.Repeat("0", 4-len(digits)) + digits)
	}
}
