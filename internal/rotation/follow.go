// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

// Started says whether the SecretRotation with the UID has left a trace in the keyring: it needs its Secret no more.
func Started(ring *keyring.Keyring, uid string) bool {
	if ring == nil {
		return false
	}
	_, brought := ring.BroughtBy(uid)
	_, former := ring.ReplacedBy(uid)
	_, retired := ring.RetiredBy(uid)
	return brought || former || retired
}

// follow decides for a rotation whose secret has become current, from the traces that it left.
func (p *planner) follow() {
	if ours, ok := p.ring.BroughtBy(p.spec.UID); ok {
		p.out.Start = ours.Added
		p.out.Current = keyring.Short(ours.Fingerprint)
	}
	if !p.seen.EndpointSuspended {
		p.govern()
	}
	former, overlapping := p.ring.ReplacedBy(p.spec.UID)
	tombstone, buried := p.ring.RetiredBy(p.spec.UID)
	switch {
	case overlapping:
		p.overlap(former)
	case buried:
		p.retire(tombstone)
	default:
		p.traceless()
	}
	if p.seen.EndpointSuspended && !p.out.Finished() {
		p.out.Message += "; " + p.suspended()
	}
}

// govern changes the keyring as far as the former secret of this rotation goes, and removes whatever has expired.
func (p *planner) govern() {
	former, ok := p.ring.ReplacedBy(p.spec.UID)
	switch {
	case !ok, !former.AcceptedAt(p.now):
	case former.Final:
		p.edit(former)
	case p.loaded(former.ReplacedRevision):
		p.settle(former)
	default:
		p.extend(former)
	}
	p.ring = p.ring.Retire(p.now)
	if p.spec.Immediate {
		p.become(p.ring.Condemn(p.spec.UID))
	}
}

// settle counts the overlap from now: the last ready receiver has the new secret. If the former one may have expired
// already, the overlap is taken to have begun early enough to end at the ceiling.
func (p *planner) settle(former keyring.Entry) {
	start := second(p.now)
	if p.doubtful(former) && p.deadline(start).After(former.NotAfter) {
		start = former.NotAfter.Add(-p.overlapLength())
	}
	p.become(p.ring.Finalize(former.Fingerprint, p.now, start, p.deadline(start)))
	if p.spec.Immediate {
		p.become(p.ring.Revoke(former.Fingerprint, p.now))
	} else if p.spec.Overlap <= 0 {
		p.become(p.ring.Expire(former.Fingerprint, p.now))
	}
}

// edit follows changes of the spec during the overlap, and the use of the former secret. A former secret that has expired is past this.
func (p *planner) edit(former keyring.Entry) {
	deadline := p.due(former)
	switch {
	case p.spec.Immediate:
		p.become(p.ring.Revoke(former.Fingerprint, p.now))
	case !p.now.Before(deadline):
		p.become(p.ring.Expire(former.Fingerprint, p.now))
	case !deadline.Equal(former.NotAfter):
		p.become(p.ring.Finalize(former.Fingerprint, p.now, former.OverlapStart, deadline))
	}
}

// extend keeps the provisional ceiling far enough away for the overlap to fit below it, and under the cap. If no operator
// looks again, receivers still refuse the former secret at the ceiling.
func (p *planner) extend(former keyring.Entry) {
	limit := p.spec.PreviousNotAfter
	tooLate := !limit.IsZero() && former.NotAfter.After(limit)
	tooSoon := former.NotAfter.Before(p.capped(p.now.Add(p.overlapLength() + minSlack)))
	if tooLate || (tooSoon && !p.doubtful(former)) {
		p.become(p.ring.Extend(former.Fingerprint, p.now, p.ceiling()))
	}
}

// doubtful says whether a secret may have expired by somebody else's clock.
func (p *planner) doubtful(former keyring.Entry) bool {
	return !former.AcceptedAt(p.now.Add(doubt))
}

// become takes a changed keyring; a change that is not possible any more leaves it as it is.
func (p *planner) become(next *keyring.Keyring, err error) {
	if err == nil {
		p.ring = next
	}
}

// overlap speaks of a rotation whose former secret is in the keyring.
func (p *planner) overlap(former keyring.Entry) {
	p.out.OverlapActive = former.AcceptedAt(p.now)
	p.out.OverlapEnd = former.NotAfter
	p.out.Previous = keyring.Short(former.Fingerprint)
	p.out.LastOldUse = p.lastUse(former.Fingerprint, p.out.OverlapActive)
	p.count(former.ReplacedRevision)
	p.inUse(former)
	if !former.Final {
		p.propagating()
		return
	}
	p.out.Propagated, p.out.PropagatedTime = true, former.OverlapStart
	switch {
	case !p.out.OverlapActive:
		p.stay(Retiring, messageRetiring, p.spec.Intervals.Propagation)
	default:
		left := former.NotAfter.Sub(p.now)
		p.stay(OverlapActive, overlapUntil(former.NotAfter), min(left, p.spec.Intervals.Status))
	}
}

// retire speaks of a rotation whose former secret is out of the keyring.
func (p *planner) retire(tombstone keyring.Tombstone) {
	p.out.Previous = keyring.Short(tombstone.Fingerprint)
	p.out.LastOldUse = p.lastUse(tombstone.Fingerprint, false)
	p.count(tombstone.Revision)
	loaded := p.loaded(tombstone.Revision)
	if !tombstone.OverlapStart.IsZero() {
		p.out.PropagatedTime = tombstone.OverlapStart
	} else if p.out.PropagatedTime.IsZero() && loaded {
		p.out.PropagatedTime = second(p.now)
	}
	if p.out.OverlapEnd.IsZero() || p.out.OverlapEnd.After(tombstone.Time) {
		p.out.OverlapEnd = tombstone.Time
	}
	p.out.Propagated = !p.out.PropagatedTime.IsZero()
	switch {
	case loaded && tombstone.Reason == keyring.Revoked:
		p.out.PreviousRetired = true
		p.end(Revoked)
	case loaded:
		p.out.PreviousRetired = true
		p.end(Completed)
	case !p.out.Propagated:
		p.propagating()
	default:
		message := messageRetiring
		if tombstone.Reason == keyring.Revoked {
			message = messageRevoking
		}
		p.stay(Retiring, message, p.patience(tombstone.Time))
	}
}

// traceless speaks of a rotation whose former secret is current again, or so long gone that even its tombstone is.
func (p *planner) traceless() {
	p.out.Propagated = !p.superseded() || !p.out.PropagatedTime.IsZero()
	p.out.PreviousRetired = !p.superseded()
	p.end(Completed)
	if p.superseded() {
		p.out.OverlapEnd = time.Time{}
		p.out.Message = messageReverted
	}
}

// propagating speaks of a rotation whose new secret is not everywhere yet.
func (p *planner) propagating() {
	reason := ""
	switch {
	case p.out.Ready == 0:
		reason = NoReadyReceivers
	case !p.now.Before(p.out.Start.Add(OverdueAfter)):
		reason = PropagationOverdue
	}
	p.stay(Propagating, p.loading(), p.patience(p.out.Start))
	if reason != "" && p.out.State == Propagating {
		p.out.Reason = reason
	}
}

// stay says which state an unfinished rotation is in.
func (p *planner) stay(state State, message string, again time.Duration) {
	if p.superseded() {
		state, message = Superseded, supersededUntil(p.out.OverlapActive, p.out.OverlapEnd)
	}
	p.say(state, "", message)
	p.out.WakeAfter = max(again, time.Millisecond)
}

// end says that nothing more will happen to a rotation.
func (p *planner) end(state State) {
	if p.superseded() {
		state = Superseded
	}
	p.say(state, "", ended(state))
	p.complete()
}

// superseded says whether a later rotation has made another secret current.
func (p *planner) superseded() bool { return p.ring.Current.Rotation != p.spec.UID }

// patience is how soon to ask receivers again that have been loading a keyring since a moment.
func (p *planner) patience(since time.Time) time.Duration {
	if p.now.Before(since.Add(OverdueAfter)) {
		return p.spec.Intervals.Propagation
	}
	return p.spec.Intervals.Status
}
