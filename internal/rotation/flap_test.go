// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/rotation"
)

// A Secret flaps between two values every 30 seconds for ten minutes, and the operator follows each time: three writes a change
// at most, and a keyring that has both secrets, once each, and grows no more.
func TestAFlappingSecretIsBounded(t *testing.T) {
	w := newWorld(t)
	writes, size := 0, 0
	for i := range 20 {
		w = w.another(string(rune('a' + i)))
		w.seen.Secret = usable([]string{"beta", "alpha"}[i%2])
		for range 5 {
			if w.plan().Keyring != nil {
				writes++
			}
			w.load(0, 1)
			w.now = w.now.Add(6 * time.Second)
		}
		w.expect(rotation.OverlapActive, "")
		if want := []string{"beta alpha", "alpha beta"}[i%2]; w.texts() != want || len(w.seen.Keyring.Tombstones) != 0 {
			t.Fatalf("after change %d: secrets %q and %d tombstones, want %q", i, w.texts(), len(w.seen.Keyring.Tombstones), want)
		}
		document, err := w.seen.Keyring.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if i == 15 {
			size = len(document)
		} else if i > 15 && len(document) > size+8 {
			t.Errorf("after change %d the keyring has %d bytes, and had %d", i, len(document), size)
		}
	}
	if writes > 60 {
		t.Errorf("%d writes of the keyring for 20 changes", writes)
	}
}
