// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// t0 is when the tests begin.
var t0 = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)

var intervals = rotation.Intervals{Propagation: 2 * time.Second, Status: 10 * time.Second, Secret: 30 * time.Second}

// spec is a rotation with the defaults, whose secret's text is name.
func spec(name string) rotation.Spec {
	return rotation.Spec{
		UID: "uid-" + name, Name: name, Created: t0, Endpoint: "payments",
		Source: keyring.Source{Name: "webhook-" + name, Key: "secret"}, Overlap: 24 * time.Hour, Intervals: intervals,
	}
}

// usable is the secret whose text is name.
func usable(name string) rotation.Secret {
	return rotation.Secret{
		Usability: rotation.Usable, Key: []byte(strings.ToUpper(name)), Text: []byte(name),
	}
}

func candidate(name string) keyring.Candidate {
	return keyring.Candidate{Key: usable(name).Key, Secret: usable(name).Text, Source: spec(name).Source, Rotation: "uid-" + name}
}

// tester is a testing.TB or a rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// adopted is the keyring of an endpoint whose first secret is alpha.
func adopted(t tester) *keyring.Keyring {
	t.Helper()
	first := candidate("alpha")
	first.Rotation = ""
	k, err := keyring.Adopt(strings.NewReader(strings.Repeat("s", keyring.SaltBytes)), first, t0.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// world is what a rotation sees; its operator writes what Plan decides.
type world struct {
	t    testing.TB
	now  time.Time
	spec rotation.Spec
	seen rotation.Observed
	last rotation.Decision
}

// newWorld has an endpoint with the secret alpha, two receivers that have loaded it, and a rotation to beta at t0.
func newWorld(t testing.TB) *world {
	w := &world{t: t, now: t0, spec: spec("beta")}
	w.seen = rotation.Observed{
		EndpointFound: true, Keyring: adopted(t), Secret: usable("beta"), Receivers: make([]rotation.Receiver, 2),
	}
	w.load(0, 1)
	return w
}

// load lets receivers load the keyring as it is.
func (w *world) load(receivers ...int) {
	for _, i := range receivers {
		known := map[string]time.Time{}
		for _, e := range w.seen.Keyring.Accepted(w.now) {
			known[e.Fingerprint] = w.seen.Receivers[i].LastUsed[e.Fingerprint]
		}
		w.seen.Receivers[i] = rotation.Receiver{
			Ready: true, Answered: true, Revision: w.seen.Keyring.Revision, LastUsed: known,
		}
	}
}

// plan decides, writes the keyring, and records the status.
func (w *world) plan() rotation.Decision {
	w.last = rotation.Plan(w.now, w.spec, w.seen)
	if w.last.Keyring != nil {
		w.seen.Keyring = w.last.Keyring
	}
	w.seen.Recorded = recorded(w.last)
	if m := w.last.Message; m == "" || (m[0] >= 'a' && m[0] <= 'z') || strings.HasSuffix(m, ".") {
		w.t.Errorf("message %q: messages begin in upper case and end without a period", m)
	}
	return w.last
}

// recorded is the status after a decision.
func recorded(d rotation.Decision) rotation.Recorded {
	return rotation.Recorded{
		State: d.State, Message: d.Message, Propagated: d.Propagated, PreviousRetired: d.PreviousRetired,
		Start: d.Start, PropagatedTime: d.PropagatedTime, OverlapEnd: d.OverlapEnd, Completion: d.Completion,
		LastOldUse: d.LastOldUse, Current: d.Current, Previous: d.Previous,
	}
}

// to moves the clock to a time after t0.
func (w *world) to(after time.Duration) *world {
	w.now = t0.Add(after)
	return w
}

// until brings the rotation into a state the usual way: all receivers load at once.
func (w *world) until(state rotation.State) *world {
	w.t.Helper()
	for range 20 {
		if w.plan().State == state {
			return w
		}
		w.now = w.now.Add(w.last.WakeAfter)
		if w.last.State == rotation.OverlapActive {
			w.now = w.last.OverlapEnd
			continue
		}
		w.load(0, 1)
	}
	w.t.Fatalf("state %s, never reached %s", w.last.State, state)
	return w
}

// expect checks the state and the reason of the last decision; an empty reason is the state itself.
func (w *world) expect(state rotation.State, reason string) {
	w.t.Helper()
	if reason == "" {
		reason = string(state)
	}
	if w.last.State != state || w.last.Reason != reason {
		w.t.Errorf("state %s (%s), want %s (%s): %s", w.last.State, w.last.Reason, state, reason, w.last.Message)
	}
}

// texts are the secrets in the keyring: the current one, then the previous ones.
func (w *world) texts() string {
	out := []string{string(w.seen.Keyring.Current.Secret)}
	for _, e := range w.seen.Keyring.Previous {
		out = append(out, string(e.Secret))
	}
	return strings.Join(out, " ")
}

// former is the secret that the rotation has replaced.
func (w *world) former() keyring.Entry {
	w.t.Helper()
	e, ok := w.seen.Keyring.ReplacedBy(w.spec.UID)
	if !ok {
		w.t.Fatal("the former secret is gone")
	}
	return e
}
