// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// asked is a SecretRotation in the simulation.
type asked struct {
	spec     rotation.Spec
	secret   string
	recorded rotation.Recorded
	reason   string
	// changes is how often the secret had changed when the status last changed.
	changes int
	// seen is what the Secret resolves to, if it is not usable.
	seen rotation.Secret
}

// simulation is an endpoint in virtual time: people, an operator and receivers do things in any order.
type simulation struct {
	*rapid.T
	now       time.Time
	ring      *keyring.Keyring
	rotations []*asked
	receivers []rotation.Receiver
	// views are what the receivers see, each of its own: one for each of receivers.
	views []view
	// judged is how often one was compared with the model.
	judged    int
	suspended bool
	made      int
	changes   int
	takeovers int
	skew      time.Duration
	model     model
}

func newSimulation(t *rapid.T) *simulation {
	s := &simulation{T: t, now: t0, ring: adopted(t), receivers: make([]rotation.Receiver, 3)}
	s.model = model{current: "alpha", former: map[string]*demotion{}, revoked: map[string]bool{}, done: map[string][]string{}, told: map[string]bool{"alpha": true}}
	s.skew = rapid.SampledFrom([]time.Duration{0, skew}).Draw(t, "skew")
	s.model.doubt = 2 * s.skew
	for i := range s.receivers {
		s.views = append(s.views, s.newView())
		s.receivers[i].Ready = true
		s.load(i)
	}
	return s
}

func (s *simulation) load(i int) {
	known := map[string]time.Time{}
	for _, e := range append(slices.Clone(s.ring.Previous), s.ring.Current) {
		known[e.Fingerprint] = s.receivers[i].LastUsed[e.Fingerprint]
	}
	s.receivers[i] = rotation.Receiver{Ready: s.receivers[i].Ready, Answered: true, Revision: s.ring.Revision, LastUsed: known}
	s.views[i].ring, s.views[i].stale = s.ring, time.Time{}
}

// everywhere says whether every ready receiver has the revision.
func (s *simulation) everywhere(revision int64) bool {
	ready := 0
	for _, r := range s.receivers {
		if r.Ready {
			ready++
			if !r.Answered || r.Revision < revision {
				return false
			}
		}
	}
	return ready > 0
}

// create asks for a rotation: to a new secret mostly, or to one that was there before.
func (s *simulation) create(*rapid.T) {
	if len(s.rotations) > 12 {
		return
	}
	s.made++
	secret := fmt.Sprintf("secret-%d", rapid.IntRange(max(0, s.made-4), s.made).Draw(s.T, "secret"))
	a := &asked{spec: spec(fmt.Sprintf("rotation-%03d", s.made)), secret: secret}
	a.spec.Created, a.spec.Source.Name = s.now, secret
	a.spec.Overlap = rapid.SampledFrom([]time.Duration{0, time.Hour, 24 * time.Hour, 168 * time.Hour}).Draw(s.T, "overlap")
	a.spec.Immediate = rapid.IntRange(0, 9).Draw(s.T, "immediate") == 0
	a.spec.Retire = rapid.SampledFrom([]rotation.Retire{rotation.AtDeadline, rotation.WhenUnused}).Draw(s.T, "retire")
	a.spec.MaxOverlap = rapid.SampledFrom([]time.Duration{24 * time.Hour, 168 * time.Hour}).Draw(s.T, "most")
	s.rotations = append(s.rotations, a)
}

// secret makes what a rotation names disappear, unusable, or what it was.
func (s *simulation) secret(*rapid.T) {
	if a := s.pick(); a != nil {
		a.seen = rapid.SampledFrom([]rotation.Secret{
			{},
			{Reason: "SecretNotFound", Problem: "gone"},
			{Usability: rotation.Unusable, Reason: "SecretEmpty", Problem: "empty"},
		}).Draw(s.T, "resolves")
	}
}

// use lets a delivery verify with a former secret, by a receiver whose clock may be another.
func (s *simulation) use(*rapid.T) {
	for _, e := range s.ring.Previous {
		i := rapid.IntRange(0, len(s.receivers)-1).Draw(s.T, "receiver")
		r := s.receivers[i]
		if _, known := r.LastUsed[e.Fingerprint]; !known || !e.AcceptedAt(s.now) {
			continue
		}
		off := rapid.SampledFrom([]time.Duration{-2 * time.Minute, 0, 2 * time.Minute}).Draw(s.T, "off")
		r.LastUsed[e.Fingerprint] = s.now.Add(off)
		if d, ok := s.model.former[string(e.Secret)]; ok && s.now.Add(off).After(d.used) {
			d.used = s.now.Add(off)
		}
	}
}

// scale adds a receiver, removes one, or replaces one by another that has seen nothing.
func (s *simulation) scale(*rapid.T) {
	what := rapid.IntRange(0, 2).Draw(s.T, "scale")
	if what > 0 && len(s.receivers) > 1 {
		s.receivers, s.views = s.receivers[1:], s.views[1:]
	}
	if what < 2 && len(s.receivers) < 5 {
		s.receivers, s.views = append(s.receivers, rotation.Receiver{Ready: true}), append(s.views, s.newView())
		s.load(len(s.receivers) - 1)
	}
}

// pick returns one of the rotations; nil if there is none.
func (s *simulation) pick() *asked {
	if len(s.rotations) == 0 {
		return nil
	}
	return s.rotations[rapid.IntRange(0, len(s.rotations)-1).Draw(s.T, "rotation")]
}

func (s *simulation) edit(*rapid.T) {
	a := s.pick()
	if a == nil {
		return
	}
	switch rapid.IntRange(0, 4).Draw(s.T, "edit") {
	case 2:
		a.spec.Retire = rapid.SampledFrom([]rotation.Retire{rotation.AtDeadline, rotation.WhenUnused}).Draw(s.T, "retire")
	case 0:
		a.spec.Immediate = true
	case 1:
		a.spec.PreviousNotAfter = s.now.Add(rapid.SampledFrom([]time.Duration{-time.Hour, 2 * time.Hour}).Draw(s.T, "cap")).Truncate(time.Second)
	default:
		a.spec.Overlap = rapid.SampledFrom([]time.Duration{0, time.Hour, 48 * time.Hour}).Draw(s.T, "overlap")
	}
	// People edit, and the operator sees it at once: what it does not see has no effect, which is another action.
	s.operate(0, true)
}

func (s *simulation) remove(*rapid.T) {
	if a := s.pick(); a != nil && rapid.Bool().Draw(s.T, "sure") {
		s.rotations = slices.DeleteFunc(s.rotations, func(other *asked) bool { return other == a })
	}
}

// reapply deletes a rotation and applies its manifest again, as GitOps does with one that came back to Git.
func (s *simulation) reapply(*rapid.T) {
	a := s.pick()
	if a == nil {
		return
	}
	s.made++
	again := &asked{spec: a.spec, secret: a.secret, seen: a.seen}
	again.spec.UID, again.spec.Created = fmt.Sprintf("uid-again-%03d", s.made), s.now
	s.rotations = append(slices.DeleteFunc(s.rotations, func(other *asked) bool { return other == a }), again)
}

func (s *simulation) receive(*rapid.T) {
	i := rapid.IntRange(0, len(s.receivers)-1).Draw(s.T, "receiver")
	switch rapid.IntRange(0, 4).Draw(s.T, "what") {
	case 0:
		// One that comes back has loaded what there is: its readiness asks for a keyring, and kubelets go on projecting.
		if s.receivers[i].Ready {
			s.receivers[i].Ready = false
		} else if !s.views[i].stuck {
			s.load(i)
			s.receivers[i].Ready = true
		}
	case 1:
		s.receivers[i].Answered = !s.receivers[i].Answered
	case 2:
		s.views[i].stuck = !s.views[i].stuck
	default:
		if !s.views[i].stuck {
			s.load(i)
		}
	}
}

func (s *simulation) wait(*rapid.T) {
	s.now = s.now.Add(rapid.SampledFrom([]time.Duration{
		time.Second, time.Minute, 20 * time.Minute, time.Hour, 12 * time.Hour, 72 * time.Hour,
	}).Draw(s.T, "wait"))
	s.project()
}

// loadAndOperate is the usual thing: receivers see the keyring, then the operator looks.
func (s *simulation) loadAndOperate(*rapid.T) {
	for i := range s.receivers {
		s.receivers[i].Ready, s.views[i].stuck = true, false
		s.load(i)
	}
	s.operate(0, true)
}

// operateSkewed lets another leader look, whose clock is another, and that may die before it has told anybody.
func (s *simulation) operateSkewed(*rapid.T) {
	s.operate(rapid.SampledFrom([]time.Duration{-s.skew, 0, s.skew}).Draw(s.T, "skew"), rapid.IntRange(0, 3).Draw(s.T, "survives") > 0)
}

func (s *simulation) suspend(*rapid.T) {
	s.suspended = !s.suspended && rapid.IntRange(0, 3).Draw(s.T, "really") == 0
}

// operate lets an operator look at every rotation, in any order, until nothing changes.
func (s *simulation) operate(off time.Duration, survives bool) {
	now := s.now.Add(off)
	order := rapid.Permutation(slices.Clone(s.rotations)).Draw(s.T, "order")
	for range 2 * (len(order) + 1) {
		written := false
		for _, a := range order {
			d := s.look(a, now, survives)
			written = written || d.Keyring != nil
			if d.Keyring != nil && !survives {
				return
			}
		}
		if !written {
			break
		}
	}
	if s.suspended {
		return
	}
	alive := make([]string, 0, len(s.rotations))
	for _, a := range s.rotations {
		alive = append(alive, a.spec.UID)
	}
	if swept, _ := rotation.Sweep(now, s.ring, alive); swept != s.ring {
		s.put(swept)
	}
	for _, e := range s.ring.Previous {
		if !e.AcceptedAt(now) {
			s.Fatalf("an expired secret is still in the keyring after everybody has looked: %v", e)
		}
	}
}

// look is one look at one rotation.
func (s *simulation) look(a *asked, now time.Time, survives bool) rotation.Decision {
	seen := rotation.Observed{
		EndpointFound: true, EndpointSuspended: s.suspended, Keyring: s.ring, Secret: usable(a.secret), Receivers: s.receivers,
		Recorded: a.recorded,
	}
	if a.seen.Reason != "" {
		seen.Secret = a.seen
	}
	for _, other := range s.rotations {
		if other != a {
			seen.Siblings = append(seen.Siblings, rotation.Sibling{
				UID: other.spec.UID, Name: other.spec.Name, Created: other.spec.Created, State: other.recorded.State,
				Reason: other.reason, Start: other.recorded.Start, Finished: !other.recorded.Completion.IsZero(),
			})
		}
	}
	d := rotation.Plan(now, a.spec, seen)
	if d.Keyring != nil {
		s.write(a, d, now)
	}
	if !s.suspended && !d.Finished() {
		s.model.looked(a, now, s.everywhere)
	}
	if survives || d.Keyring == nil {
		if a.recorded.Completion.IsZero() {
			a.changes = s.changes
		}
		a.recorded, a.reason = recorded(d), d.Reason
		seen.Keyring, seen.Recorded = s.ring, a.recorded
		if again := rotation.Plan(now, a.spec, seen); again.Keyring != nil || again.State != d.State {
			s.Fatalf("a second look at %s decides otherwise:\n%+v\n%+v", a.spec.Name, d, again)
		}
	}
	return d
}

// write puts a decided keyring in place, and tells the model what is new in it.
func (s *simulation) write(a *asked, d rotation.Decision, now time.Time) {
	was := s.ring
	s.put(d.Keyring)
	if s.ring.Revision <= was.Revision {
		s.Fatalf("revision %d after %d", s.ring.Revision, was.Revision)
	}
	if _, err := s.ring.Encode(); err != nil {
		s.Fatalf("the keyring cannot be written: %v", err)
	}
	if current := string(s.ring.Current.Secret); current != s.model.current {
		if s.model.revoked[current] {
			s.Fatalf("%s was revoked and is current again", current)
		}
		if slices.Contains(s.model.done[a.spec.Name], current) {
			s.Fatalf("%s was applied again and brings %s back", a.spec.Name, current)
		}
		s.changes++
		s.model.promoted(current, a, now, was.Revision+1)
	} else if was.Current.Rotation != s.ring.Current.Rotation {
		s.takenOver(was.Current.Rotation, a, now)
	}
	for _, tombstone := range s.ring.Tombstones {
		name := s.nameOf(tombstone.Fingerprint)
		s.model.revoked[name] = s.model.revoked[name] || tombstone.Reason == keyring.Revoked
		if demoted, ok := s.model.former[name]; ok && slices.Contains(d.Evicted, keyring.Short(tombstone.Fingerprint)) {
			demoted.lapse, demoted.over = now.Add(-time.Hour), true
		}
	}
}

// takenOver checks that a rotation may govern the secret that another one has replaced, and tells the model.
func (s *simulation) takenOver(from string, by *asked, now time.Time) {
	if !by.spec.Immediate || by.secret != s.model.current {
		s.Fatalf("%s has taken over from %s for nothing", by.spec.Name, from)
	}
	for name, d := range s.model.former {
		if d.by.spec.UID == from {
			d.by, d.spec, d.looked = by, by.spec, now
			s.takeovers++
			if t, ok := s.ring.RetiredBy(by.spec.UID); ok && t.Reason == keyring.Revoked {
				s.model.revoked[name] = true
			}
		}
	}
}

func (s *simulation) nameOf(fingerprint string) string {
	if s.ring.Fingerprint(usable("alpha").Key) == fingerprint {
		return "alpha"
	}
	for i := range s.made + 1 {
		name := fmt.Sprintf("secret-%d", i)
		if s.ring.Fingerprint(usable(name).Key) == fingerprint {
			return name
		}
	}
	return ""
}

// check compares the keyring with the model after each action.
func (s *simulation) check(*rapid.T) {
	accepted := map[string]bool{}
	for _, e := range s.ring.Accepted(s.now) {
		accepted[string(e.Secret)] = true
	}
	if !accepted[s.model.current] {
		s.Fatalf("the current secret %s is refused", s.model.current)
	}
	for name, d := range s.model.former {
		if d.mustAccept(s.now, s.model.doubt) && !accepted[name] && !s.model.revoked[name] {
			s.Fatalf("%s is refused inside its overlap: %+v", name, d)
		}
		if d.lapse.IsZero() && !s.acceptedAt(name, s.now.Add(2*skew)) {
			d.lapse = s.endOf(name)
		}
		d.over = d.over || !s.acceptedAt(name, s.now.Add(-s.model.doubt))
		if d.mustRefuse(s.now, s.model.doubt) && accepted[name] {
			s.Fatalf("%s is accepted after its overlap: %+v", name, d)
		}
	}
	s.judgeReceivers()
	if len(s.ring.Previous) > keyring.MaxPrevious {
		s.Fatalf("%d former secrets", len(s.ring.Previous))
	}
}
