// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"slices"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

// Sweep removes former secrets whose time is over and whose rotation is not among those that are alive, by UID: nobody
// else would. It returns the keyring itself if there is nothing to remove, and after how long there will be; zero if
// nothing is left to sweep. Deadlines stay as they are: a deleted rotation neither revokes nor prolongs.
func Sweep(now time.Time, ring *keyring.Keyring, alive []string) (*keyring.Keyring, time.Duration) {
	next, again := ring, time.Duration(0)
	for _, e := range ring.Previous {
		if slices.Contains(alive, e.ReplacedBy) {
			continue
		}
		if !e.AcceptedAt(now) {
			next = ring.Retire(now)
			continue
		}
		if left := e.NotAfter.Sub(now); again == 0 || left < again {
			again = left
		}
	}
	return next, again
}
