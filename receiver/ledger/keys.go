// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

const keySize = 16

// claimKey is a key of table claim.
type claimKey [keySize]byte

// idKey is the key of a claim by event id.
func idKey(id string) claimKey {
	// An id has 255 bytes at most, so that this one stays on the stack.
	var in [3 + 255]byte
	sum := sha256.Sum256(append(append(in[:0], "id:"...), id...))
	return claimKey(sum[:])
}

// bodyKey is the key of a claim by body. It cannot be that of an id: the prefixes differ.
func bodyKey(digest [sha256.Size]byte) claimKey {
	var in [5 + sha256.Size]byte
	sum := sha256.Sum256(append(append(in[:0], "body:"...), digest[:]...))
	return claimKey(sum[:])
}

// resourceKey is the key of an effect that is booked once per resource. Lengths go in, so that no two pairs meet.
func resourceKey(resource, eventType string) []byte {
	var in []byte
	for _, part := range []string{resource, eventType} {
		in = binary.BigEndian.AppendUint64(in, uint64(len(part)))
		in = append(in, part...)
	}
	sum := sha256.Sum256(in)
	return sum[:keySize]
}

// storable is a text as Postgres can keep it: UTF-8 without NUL. The bytes as received are in the event's body.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
