// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

// overlapLength is how long the former secret is accepted after full propagation.
func (p *planner) overlapLength() time.Duration {
	if p.spec.Immediate {
		return 0
	}
	return p.spec.Overlap
}

// ceiling is the former secret's provisional deadline, counted from now.
func (p *planner) ceiling() time.Time {
	return p.capped(second(p.now.Add(p.overlapLength() + Slack)))
}

// deadline is the former secret's final deadline, counted from full propagation.
func (p *planner) deadline(start time.Time) time.Time {
	return p.capped(second(start.Add(p.overlapLength())))
}

// capped returns t, or the moment after which the spec refuses the former secret in any case.
func (p *planner) capped(t time.Time) time.Time {
	if limit := p.spec.PreviousNotAfter; !limit.IsZero() && limit.Before(t) {
		return limit.UTC()
	}
	return t
}

// loaded says whether every ready receiver has loaded the revision, and there is one.
func (p *planner) loaded(revision int64) bool {
	ready, updated := p.tally(revision)
	return ready > 0 && updated == ready
}

// count notes how many receivers have loaded the revision.
func (p *planner) count(revision int64) {
	p.out.Ready, p.out.Updated = p.tally(revision)
}

// tally counts the ready receivers, and those of them that have loaded the revision.
func (p *planner) tally(revision int64) (ready, updated int) {
	for _, r := range p.seen.Receivers {
		if !r.Ready {
			continue
		}
		ready++
		if r.Loaded(p.seen.Keyring, revision) {
			updated++
		}
	}
	return ready, updated
}

// Loaded says whether a receiver has loaded the revision of the keyring, or a later one. A receiver that does not know the
// keyring's current secret has loaded the keyring of another time, which was lost and made anew.
func (r Receiver) Loaded(ring *keyring.Keyring, revision int64) bool {
	return r.Answered && r.Revision >= revision && r.knows(ring.Current.Fingerprint, ring.Revision)
}

// knows says whether what a receiver says agrees with the keyring: at its revision it knows its current secret.
func (r Receiver) knows(current string, revision int64) bool {
	if len(r.LastUsed) == 0 || r.Revision < revision {
		return true
	}
	_, ok := r.LastUsed[current]
	return ok
}

// lastUse is when a delivery last verified with the former secret. Once that is refused the time is exact: the receivers that
// still know it drop it next.
func (p *planner) lastUse(fingerprint string, accepted bool) time.Time {
	shown := p.seen.Recorded.LastOldUse
	if !accepted {
		return later(shown, reported(fingerprint, p.seen.Receivers).UTC().Truncate(time.Second))
	}
	return LastUse(p.now, shown, fingerprint, p.seen.Receivers)
}

// reported is the last use of a secret that receivers know of; zero for none.
func reported(fingerprint string, receivers []Receiver) time.Time {
	var used time.Time
	for _, r := range receivers {
		used = later(used, r.LastUsed[fingerprint])
	}
	return used
}

// LastUse returns what is shown as the last time that a delivery verified with a secret, to the second; zero for never.
// shown is what is shown already. The time never goes back: a receiver that was restarted, or has dropped the secret, has
// forgotten. While the secret is in use it moves in steps of five minutes or more, for a write with each delivery would say
// no more; once it has not been used for that long, the last use is shown.
func LastUse(now, shown time.Time, fingerprint string, receivers []Receiver) time.Time {
	used := reported(fingerprint, receivers).UTC().Truncate(time.Second)
	idle := now.Sub(used) >= usePrecision
	switch {
	case used.IsZero() || !used.After(shown):
		return shown
	case shown.IsZero() || used.Sub(shown) >= usePrecision || idle:
		return used
	default:
		return shown
	}
}
