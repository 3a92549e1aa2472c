// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"cmp"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

// Sibling is another rotation of the same endpoint, as its status says.
type Sibling struct {
	UID     string
	Name    string
	Created time.Time
	// Source is the Secret that it names, and Immediate says that it revokes the secret that it replaces.
	Source    keyring.Source
	Immediate bool
	// State and Reason are empty for one that has not been looked at yet.
	State  State
	Reason string
	// Start is when its secret became current; zero if it has not.
	Start time.Time
	// Finished says whether nothing more will happen to it.
	Finished bool
}

// before says whether a sibling's turn is before that of the rotation: by age, which the API server knows to the second,
// then by name, in which numbers count as such: payments-r9 is before payments-r10.
func (s Sibling) before(spec Spec) bool {
	if !s.Created.Equal(spec.Created) {
		return s.Created.Before(spec.Created)
	}
	return compareNames(s.Name, spec.Name) < 0
}

// compareNames compares as people count: runs of digits by their value, everything else by its bytes.
func compareNames(a, b string) int {
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m == 0 || n == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(m, n)); c != 0 {
			return c
		}
		a, b = a[m:], b[n:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits is how many digits a text begins with.
func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
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

// predecessor returns the sibling that a rotation has to wait for. A rotation that takes over need not wait for the one that
// it takes over from.
func (p *planner) predecessor() (Sibling, bool) {
	for _, s := range p.seen.Siblings {
		if s.before(p.spec) && s.inTheWay(p.now) && (s.UID != p.ring.Current.Rotation || !p.mayTakeOver()) {
			return s, true
		}
	}
	return Sibling{}, false
}

// successor returns a sibling whose turn is after that of the rotation and that names the Secret that the current secret
// came from. Where all are created together, as in a cluster that is made anew from Git, it was done long ago, and so was
// the rotation.
func (p *planner) successor() (Sibling, bool) {
	for _, s := range p.seen.Siblings {
		if s.Source == p.ring.Current.Source && !s.before(p.spec) && s.State != Rejected {
			return s, true
		}
	}
	return Sibling{}, false
}

// replacement returns the sibling that has taken over from the rotation: it stands in the keyring for the same secret.
func (p *planner) replacement() (Sibling, bool) {
	was := p.seen.Recorded
	if was.Start.IsZero() || was.Current != keyring.Short(p.ring.Current.Fingerprint) {
		return Sibling{}, false
	}
	for _, s := range p.seen.Siblings {
		if s.UID == p.ring.Current.Rotation {
			return s, true
		}
	}
	return Sibling{}, false
}

// reopens says whether a finished rotation has something to do after all.
func (p *planner) reopens() bool {
	if Settled(p.spec, p.seen.Recorded) || p.ring == nil || p.seen.EndpointSuspended {
		return false
	}
	retired, buried := p.ring.RetiredBy(p.spec.UID)
	return buried && retired.Reason == keyring.Expired || p.seen.Recorded.State == AlreadyCurrent && p.mayTakeOver()
}

// mayTakeOver says whether the rotation would revoke what the one that brought the current secret only replaces.
func (p *planner) mayTakeOver() bool {
	if !p.spec.Immediate || p.ring.Standing(p.candidate()) != keyring.IsCurrent {
		return false
	}
	for _, s := range p.seen.Siblings {
		if s.UID == p.ring.Current.Rotation && s.Immediate {
			return false
		}
	}
	_, err := p.ring.TakeOver(p.candidate())
	return err == nil
}

// overtaken returns a sibling that has had its way though its turn was after that of the rotation. One that has done what
// the rotation asks for, except to revoke, is not in the way of that.
func (p *planner) overtaken() (Sibling, bool) {
	urgent := p.spec.Immediate && p.spec.Source == p.ring.Current.Source
	for _, s := range p.seen.Siblings {
		done := !s.Start.IsZero() || s.State == AlreadyCurrent || Started(p.ring, s.UID)
		if done && !s.before(p.spec) && !(urgent && s.Source == p.spec.Source) {
			return s, true
		}
	}
	return Sibling{}, false
}
