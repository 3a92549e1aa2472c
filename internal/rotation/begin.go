// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"slices"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/scheme"
)

// planner is one run of Plan: ring is the keyring as it becomes, out what is said about it.
type planner struct {
	now  time.Time
	spec Spec
	seen Observed
	ring *keyring.Keyring
	out  Decision
}

// say sets what people are told.
func (p *planner) say(state State, reason, message string) {
	if reason == "" {
		reason = string(state)
	}
	p.out.State, p.out.Reason, p.out.Message = state, reason, message
}

// wait says that the rotation cannot start yet.
func (p *planner) wait(reason, message string, again time.Duration) {
	p.say(Pending, reason, message)
	p.out.WakeAfter = again
}

// soon is when to look again for what is missing: what was applied together with the rotation is there in a moment.
func (p *planner) soon() time.Duration {
	if p.now.Before(p.spec.Created.Add(youngFor)) {
		return p.spec.Intervals.Propagation
	}
	return p.spec.Intervals.Secret
}

// complete says that nothing more will happen.
func (p *planner) complete() {
	if p.out.Completion = p.seen.Recorded.Completion; p.out.Completion.IsZero() {
		p.out.Completion = second(p.now)
	}
	p.out.WakeAfter = 0
}

// begin decides for a rotation that has left no trace in the keyring.
func (p *planner) begin() {
	secret := p.seen.Secret
	switch {
	case !p.seen.EndpointFound:
		p.wait(EndpointNotFound, p.endpointNotFound(), p.soon())
		return
	case p.ring == nil:
		p.wait(KeyringNotFound, p.keyringNotFound(), p.soon())
		return
	}
	if by, ok := p.replacement(); ok {
		p.out.Propagated, p.out.OverlapEnd = p.seen.Recorded.Propagated, time.Time{}
		p.say(Superseded, "", takenOverBy(by.Name))
		p.complete()
		return
	}
	if later, ok := p.overtaken(); ok {
		p.say(Superseded, "", overtakenBy(later.Name))
		p.complete()
		return
	}
	if p.seen.Recorded.State == AlreadyCurrent && (!p.spec.Immediate || secret.Usability != Usable) {
		p.still()
		return
	}
	switch secret.Usability {
	case Missing:
		p.wait(secret.Reason, secret.Problem+"; the rotation starts when it is there", p.soon())
		return
	case Unusable:
		p.reject(secret.Reason, secret.Problem)
		return
	case Usable:
		p.start()
	}
}

// start decides for a rotation whose secret is there, in its turn.
func (p *planner) start() {
	standing := p.ring.Standing(p.candidate())
	former := standing == keyring.IsPrevious || standing == keyring.IsExpired
	earlier, wait := p.predecessor()
	later, done := p.successor()
	switch {
	case standing != keyring.IsCurrent && p.seen.Recorded.State == AlreadyCurrent:
		p.say(Superseded, "", ended(Superseded))
		p.complete()
	case standing == keyring.IsRevoked:
		p.reject(SecretRevoked, p.revokedBefore())
	case former && slices.Contains(p.ring.NamesOf(p.candidate()), p.spec.Name):
		p.say(Superseded, "", p.doneBefore())
		p.complete()
	case standing != keyring.IsCurrent && done:
		p.say(Superseded, "", followedBy(later.Name))
		p.complete()
	case standing != keyring.IsCurrent && p.tooShort():
		p.reject(OverlapTooShort, p.overlapTooShort())
	case wait:
		p.wait(WaitingForPredecessor, waitingFor(earlier.Name), p.spec.Intervals.Propagation)
	case p.seen.EndpointSuspended && (standing != keyring.IsCurrent || p.mayTakeOver()):
		p.wait(EndpointSuspended, p.suspended(), p.spec.Intervals.Secret)
	case p.mayTakeOver():
		p.become(p.ring.TakeOver(p.candidate()))
		p.follow()
	case standing == keyring.IsCurrent && p.seen.Recorded.Start.IsZero():
		p.alreadyCurrent()
	case standing == keyring.IsCurrent:
		p.lost()
	default:
		p.promote()
	}
}

// tooShort says whether the provider would sign with the former secret for longer than the overlap. It is asked before the
// secret becomes current: later, to shorten an overlap is to end it.
func (p *planner) tooShort() bool { return !p.spec.Immediate && p.spec.Overlap < p.spec.MinOverlap }

func (p *planner) candidate() keyring.Candidate {
	return keyring.Candidate{
		Key: p.seen.Secret.Key, Secret: p.seen.Secret.Text, Source: p.spec.Source, Rotation: p.spec.UID, Name: p.spec.Name,
	}
}

// reject says that somebody has to act. The Secret may be mended, so it is looked at again.
func (p *planner) reject(reason, problem string) {
	p.say(Rejected, reason, problem+"; the current secret stays in use")
	p.out.WakeAfter = p.spec.Intervals.Secret
}

// spreading says whether the secret that another rotation made current is not in every receiver yet.
func (p *planner) spreading() bool {
	by := p.ring.Current.Rotation
	if former, ok := p.ring.ReplacedBy(by); ok && by != "" {
		return !former.Final && !p.loaded(former.ReplacedRevision)
	}
	if t, ok := p.ring.RetiredBy(by); ok && by != "" {
		return t.OverlapStart.IsZero() && !p.loaded(t.Revision)
	}
	return false
}

// alreadyCurrent ends a rotation to the secret that is current without it, once that is everywhere.
func (p *planner) alreadyCurrent() {
	if p.spreading() {
		p.wait(WaitingForPredecessor, messageSpreading, p.patience(p.ring.Current.Added))
		return
	}
	p.out.Current = keyring.Short(p.ring.Current.Fingerprint)
	p.out.Propagated = true
	if p.overlapping() {
		p.say(AlreadyCurrent, "", p.nothingToRotate()+"; the former one is still accepted, for the overlap of another SecretRotation")
		p.out.WakeAfter = p.spec.Intervals.Secret
		return
	}
	p.out.PreviousRetired = true
	p.say(AlreadyCurrent, "", p.nothingToRotate())
	p.complete()
}

// still goes on with a rotation that has found its secret current: it needs its Secret no more, whatever becomes of that.
func (p *planner) still() {
	if p.seen.Recorded.Current == keyring.Short(p.ring.Current.Fingerprint) {
		p.alreadyCurrent()
		return
	}
	p.say(Superseded, "", ended(Superseded))
	p.complete()
}

// overlapping says whether receivers may still accept the secret that another rotation replaced by the current one.
func (p *planner) overlapping() bool {
	by := p.ring.Current.Rotation
	if _, ok := p.ring.ReplacedBy(by); ok && by != "" {
		return true
	}
	t, ok := p.ring.RetiredBy(by)
	return ok && by != "" && !p.loaded(t.Revision)
}

// lost ends a rotation whose keyring was removed and made anew with the new secret: no former secret is left to accept.
func (p *planner) lost() {
	p.out.Propagated, p.out.PreviousRetired = true, true
	p.out.OverlapEnd = time.Time{}
	p.say(Completed, KeyringLost, messageKeyringLost)
	p.complete()
}

// promote makes the new secret current.
func (p *planner) promote() {
	next, evicted, err := p.ring.Promote(p.candidate(), p.now, p.ceiling())
	if err != nil {
		// Of what Promote refuses, only an empty secret has not been ruled out before.
		p.reject(scheme.SecretEmpty, p.empty())
		return
	}
	p.ring = next
	for _, e := range evicted {
		p.out.Evicted = append(p.out.Evicted, keyring.Short(e.Fingerprint))
	}
	p.follow()
}

// finished repeats what was recorded: what it was decided by may be gone.
func (p *planner) finished() {
	was := p.seen.Recorded
	p.out.Propagated, p.out.PreviousRetired = was.Propagated, was.PreviousRetired
	p.say(was.State, "", was.Message)
	p.complete()
}

// second rounds up to the second, which is what a status can hold: what is shown is what is enforced, and an overlap is
// never shorter than what was asked for.
func second(t time.Time) time.Time {
	whole := t.UTC().Truncate(time.Second)
	if whole.Before(t) {
		whole = whole.Add(time.Second)
	}
	return whole
}
