// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

const (
	// projection is how long a kubelet takes at most to show a receiver what was written.
	projection = 2 * time.Minute
	// drift is by how much a receiver's clock may be wrong.
	drift = 2 * time.Minute
	// unsure is how uncertain every bound is for a receiver, beside what it is for the keyring.
	unsure = projection + drift
)

// view is what one receiver has: a keyring, that may be one of before, and a clock, that may be wrong.
type view struct {
	ring *keyring.Keyring
	// off is how far the clock is ahead, and delay how late the receiver sees what was written.
	off, delay time.Duration
	// stale is since when the keyring is one of before; zero if it is not.
	stale time.Time
	// stuck says that the receiver sees no more of what is written, though it may serve and answer.
	stuck bool
}

func (s *simulation) newView() view {
	return view{
		ring:  s.ring,
		off:   rapid.SampledFrom([]time.Duration{-drift, 0, drift}).Draw(s.T, "drift"),
		delay: rapid.SampledFrom([]time.Duration{0, 30 * time.Second, projection}).Draw(s.T, "delay"),
	}
}

// put replaces the keyring; receivers see it later.
func (s *simulation) put(ring *keyring.Keyring) {
	s.ring = ring
	for i := range s.views {
		if s.views[i].stale.IsZero() {
			s.views[i].stale = s.now
		}
	}
}

// project shows receivers what was written, those whose kubelets are as far.
func (s *simulation) project() {
	for i := range s.views {
		v := &s.views[i]
		if v.stuck || v.stale.IsZero() || s.now.Before(v.stale.Add(v.delay)) {
			continue
		}
		answered := s.receivers[i].Answered
		s.load(i)
		s.receivers[i].Answered = answered
	}
}

// accepts says whether a receiver accepts a secret now, by what it has.
func (s *simulation) accepts(i int, secret string) bool {
	v := s.views[i]
	for _, e := range v.ring.Accepted(s.now.Add(v.off)) {
		if string(e.Secret) == secret {
			return true
		}
	}
	return false
}

// judgeReceivers compares each ready receiver with the model, and with what people have been told.
func (s *simulation) judgeReceivers() {
	for name, d := range s.model.former {
		if d.soon.IsZero() && !s.acceptedAt(name, s.now.Add(2*skew+unsure)) {
			d.soon = s.endOf(name)
		}
		d.past = d.past || !s.acceptedAt(name, s.now.Add(-s.model.doubt-drift))
	}
	for i, r := range s.receivers {
		if !r.Ready {
			continue
		}
		s.judged++
		s.judgeTold(i)
		if !s.views[i].stuck {
			s.judgeFormer(i)
		}
	}
}

// judgeTold checks what rotations say: Propagated, so that the provider has switched, and PreviousRetired.
func (s *simulation) judgeTold(i int) {
	for _, a := range s.rotations {
		about := a.spec.UID == s.ring.Current.Rotation || a.recorded.State == rotation.AlreadyCurrent && a.changes == s.changes
		told := a.recorded.Propagated && about
		s.model.told[a.secret] = s.model.told[a.secret] || told
		if told && !s.accepts(i, a.secret) {
			s.Fatalf("receiver %d refuses %s, of which %s says that it is everywhere: %+v", i, a.secret, a.spec.Name, a.recorded)
		}
		for name, d := range s.model.former {
			if d.by == a && a.recorded.PreviousRetired && s.accepts(i, name) {
				s.Fatalf("receiver %d accepts %s, of which %s says that it is gone: %+v", i, name, a.spec.Name, a.recorded)
			}
		}
	}
}

// judgeFormer checks what a receiver accepts that sees what is written, if late and by another clock.
func (s *simulation) judgeFormer(i int) {
	for name, d := range s.model.former {
		if !s.model.told[name] && s.views[i].ring.Revision < d.since {
			// It was replaced before anybody could sign with it.
			continue
		}
		own := *d
		own.lapse, own.over = d.soon, d.past
		if own.mustAccept(s.now, s.model.doubt+unsure) && !s.model.revoked[name] && !s.accepts(i, name) {
			s.Fatalf("receiver %d refuses %s inside its overlap: %+v, %+v", i, name, d, s.views[i])
		}
		if s.views[i].stale.IsZero() && own.mustRefuse(s.now, s.model.doubt+drift) && s.accepts(i, name) {
			s.Fatalf("receiver %d accepts %s after its overlap: %+v, %+v", i, name, d, s.views[i])
		}
	}
}

// acceptedAt says whether the keyring, as it is, accepts a secret at a time.
func (s *simulation) acceptedAt(name string, t time.Time) bool {
	return slices.ContainsFunc(s.ring.Accepted(t), func(e keyring.Entry) bool { return string(e.Secret) == name })
}

// endOf is the end of a secret's time as the keyring has it; now, if it is out of the keyring.
func (s *simulation) endOf(name string) time.Time {
	for _, e := range s.ring.Previous {
		if string(e.Secret) == name {
			return e.NotAfter
		}
	}
	return s.now
}
