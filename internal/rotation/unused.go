// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

// Retire is when a former secret's time is over.
type Retire string

// What a rotation may ask for; an empty Retire is AtDeadline.
const (
	// AtDeadline retires the former secret at the end of the overlap, used or not.
	AtDeadline Retire = "AtDeadline"
	// WhenUnused keeps it beyond the overlap until it has verified nothing for as long as the overlap, or for MaxOverlap.
	WhenUnused Retire = "WhenUnused"
)

// DefaultMaxOverlap is what a MaxOverlap of zero stands for.
const DefaultMaxOverlap = 7 * 24 * time.Hour

const (
	// leastMoving and leastWarning are how long before a deadline it may move on, and people are warned, where a tenth of
	// the overlap is less.
	leastMoving  = 15 * time.Minute
	leastWarning = 10 * time.Minute
	// leastGain is by how much a deadline moves on at least; fewer minutes are not worth a write.
	leastGain = 5 * time.Minute
)

// due is the final deadline of a former secret: the end of the overlap, or later if it is used and the rotation waits for
// that to end. What is in the keyring already stands: a lost status, or receivers that have forgotten, shorten nothing.
func (p *planner) due(former keyring.Entry) time.Time {
	end := p.deadline(former.OverlapStart)
	overlap := p.overlapLength()
	if p.spec.Retire != WhenUnused || overlap <= 0 {
		return end
	}
	held, unused := former.NotAfter, second(p.used(former.Fingerprint).Add(overlap))
	if held.After(p.now.Add(overlap + doubt)) {
		// No use moves it as far: the overlap was longer when it was counted.
		held = unused
	}
	if p.mayMove(held) && unused.Sub(held) >= min(leastGain, overlap/20) {
		held = unused
	}
	return earlier(later(end, held), p.last(former))
}

// mayMove says whether it is late enough for a deadline to move on, and early enough that nobody refuses the secret yet.
func (p *planner) mayMove(deadline time.Time) bool {
	overlap, left := p.overlapLength(), deadline.Sub(p.now)
	return left <= min(max(overlap/10, leastMoving), overlap/2) && left > min(doubt, overlap/4)
}

// last is the moment beyond which no use keeps a former secret.
func (p *planner) last(former keyring.Entry) time.Time {
	longest := p.spec.MaxOverlap
	if longest <= 0 {
		longest = DefaultMaxOverlap
	}
	return p.capped(second(former.OverlapStart.Add(max(longest, p.overlapLength()))))
}

// used is when a delivery last verified with a secret, as exactly as it is known; zero for never. A receiver whose clock
// is ahead cannot have seen a use that is still to come.
func (p *planner) used(fingerprint string) time.Time {
	return earlier(later(p.seen.Recorded.LastOldUse, reported(fingerprint, p.seen.Receivers)), p.now)
}

// inUse notes whether people have to be warned of a former secret that the provider still signs with: it is kept beyond
// its overlap, or it ends in the last tenth and has been used since as long before that. The last tenth is ten minutes at
// least, and half of the overlap at most.
func (p *planner) inUse(former keyring.Entry) {
	if !former.Final || !former.AcceptedAt(p.now) {
		return
	}
	overlap := p.overlapLength()
	near := min(max(overlap/10, leastWarning), overlap/2)
	used := p.used(former.Fingerprint)
	warned := former.NotAfter.Sub(p.now) <= near &&
		!used.Before(former.OverlapStart) && !used.Before(former.NotAfter.Add(-2*near))
	held := former.NotAfter.After(p.deadline(former.OverlapStart)) && p.spec.Retire == WhenUnused
	switch {
	case held:
		p.out.OldInUse, p.out.OldInUseMessage = true, p.held(former)
	case warned:
		p.out.OldInUse, p.out.OldInUseMessage = true, p.stillInUse(former)
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
