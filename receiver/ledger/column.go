// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/binary"
	"errors"

	"github.com/jackc/pgx/v5/pgtype"
)

// column is an array as the server reads it, built in place: a batch is sent as one array for each column.
type column struct {
	element uint32
	buf     []byte
	n       uint32
	nulls   uint32
}

// The header of an array is its number of dimensions, whether there are nulls, the type of its elements, and their number
// and first index.
const (
	arrayHeader  = 20
	arrayNulls   = 4
	arrayElement = 8
	arrayLength  = 12
	arrayFirst   = 16
	nullLength   = 0xFFFFFFFF
)

func newColumn(element uint32) column { return column{element: element} }

// reset empties it, and lets go of what a large event has made large.
func (c *column) reset() {
	if cap(c.buf) > 2*maxBatchBytes {
		c.buf = nil
	}
	c.buf, c.n, c.nulls = append(c.buf[:0], make([]byte, arrayHeader)...), 0, 0
}

func (c *column) length(n int) {
	c.n++
	c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(n)) //nolint:gosec // No element has 4 GiB.
}

func (c *column) addBytes(b []byte) {
	c.length(len(b))
	c.buf = append(c.buf, b...)
}

// addOrNull adds null for nil.
func (c *column) addOrNull(b []byte) {
	if b == nil {
		c.addNull()
		return
	}
	c.addBytes(b)
}

// addText adds null for an empty text.
func (c *column) addText(text string) {
	if text == "" {
		c.addNull()
		return
	}
	text = storable(text)
	c.length(len(text))
	c.buf = append(c.buf, text...)
}

func (c *column) addBool(b bool) {
	c.length(1)
	if b {
		c.buf = append(c.buf, 1)
	} else {
		c.buf = append(c.buf, 0)
	}
}

func (c *column) addInt64(i int64) {
	c.length(8)
	c.buf = binary.BigEndian.AppendUint64(c.buf, uint64(i)) //nolint:gosec // The bits are kept.
}

func (c *column) addNull() {
	c.n, c.nulls = c.n+1, 1
	c.buf = binary.BigEndian.AppendUint32(c.buf, nullLength)
}

// bytes is the array, until the next change.
func (c *column) bytes() []byte {
	if len(c.buf) == 0 {
		c.reset()
	}
	header := c.buf[:arrayHeader]
	binary.BigEndian.PutUint32(header[arrayNulls:], c.nulls)
	binary.BigEndian.PutUint32(header[arrayElement:], c.element)
	if c.n == 0 {
		// An empty array has no dimension.
		binary.BigEndian.PutUint32(header, 0)
		return header[:arrayLength]
	}
	binary.BigEndian.PutUint32(header, 1)
	binary.BigEndian.PutUint32(header[arrayLength:], c.n)
	binary.BigEndian.PutUint32(header[arrayFirst:], 1)
	return c.buf
}

var errUnreadable = errors.New("the server's answer cannot be read")

// readUUIDs reads an array of uuids without nulls; null is an empty one.
func readUUIDs(array []byte) ([][16]byte, error) {
	if array == nil {
		return nil, nil
	}
	if len(array) < arrayHeader || binary.BigEndian.Uint32(array[arrayElement:]) != pgtype.UUIDOID {
		return nil, errUnreadable
	}
	const size, step = 16, 4 + 16
	rest := array[arrayHeader:]
	ids := make([][16]byte, 0, len(rest)/step)
	for ; len(rest) > 0; rest = rest[step:] {
		if len(rest) < step || binary.BigEndian.Uint32(rest) != size {
			return nil, errUnreadable
		}
		ids = append(ids, [16]byte(rest[4:step]))
	}
	return ids, nil
}
