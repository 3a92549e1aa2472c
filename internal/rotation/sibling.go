// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

// Sibling is another rotation of the same endpoint, as its status says.
type Sibling struct {
	UID     string
	Name    string
	Created time.Time
	// State and Reason are empty for one that has not been looked at yet.
	State  State
	Reason string
	// Start is when its secret became current; zero if it has not.
	Start time.Time
	// Finished says whether nothing more will happen to it.
	Finished bool
}

// before says whether a sibling's turn is before that of the rotation: by age, then by name.
func (s Sibling) before(spec Spec) bool {
	if !s.Created.Equal(spec.Created) {
		return s.Created.Before(spec.Created)
	}
	return s.Name < spec.Name
}

// inTheWay says whether a rotation has to wait for a sibling whose turn is before its own. One whose Secret or endpoint is
// missing does not hold others up, nor does one whose propagation is overdue.
func (s Sibling) inTheWay(now time.Time) bool {
	switch {
	case s.Finished:
		return false
	case s.State == "":
		return true
	case s.State == Pending:
		return s.Reason == WaitingForPredecessor
	case s.State == Propagating:
		return now.Before(s.Start.Add(OverdueAfter))
	}
	return false
}

// predecessor returns the sibling that a rotation has to wait for.
func predecessor(now time.Time, spec Spec, siblings []Sibling) (Sibling, bool) {
	for _, s := range siblings {
		if s.before(spec) && s.inTheWay(now) {
			return s, true
		}
	}
	return Sibling{}, false
}

// overtaken returns a sibling that has had its way though its turn was after that of the rotation.
func overtaken(ring *keyring.Keyring, spec Spec, siblings []Sibling) (Sibling, bool) {
	for _, s := range siblings {
		done := !s.Start.IsZero() || s.State == AlreadyCurrent || Started(ring, s.UID)
		if done && !s.before(spec) {
			return s, true
		}
	}
	return Sibling{}, false
}
