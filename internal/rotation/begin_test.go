// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/rotation"
)

// A rotation that has not started: each thing that may be in its way.
func TestBegin(t *testing.T) {
	older := func(s rotation.Sibling) rotation.Sibling {
		s.Name, s.UID, s.Created = "a-first", "uid-first", t0.Add(-time.Second)
		return s
	}
	newer := func(s rotation.Sibling) rotation.Sibling {
		s.Name, s.UID, s.Created = "z-last", "uid-last", t0.Add(time.Second)
		return s
	}
	siblings := func(s ...rotation.Sibling) func(*world) {
		return func(w *world) { w.seen.Siblings = s }
	}
	unusable := func(reason string) func(*world) {
		return func(w *world) {
			w.seen.Secret = rotation.Secret{Usability: rotation.Unusable, Reason: reason, Problem: "Secret webhook-beta, key secret, is wrong"}
		}
	}
	missing := func(w *world) {
		w.seen.Secret = rotation.Secret{Reason: "SecretNotFound", Problem: "Secret webhook-beta does not exist"}
	}
	cases := map[string]struct {
		arrange func(*world)
		state   rotation.State
		reason  string
		writes  bool
		wake    time.Duration
	}{
		"nothing is in the way": {
			func(*world) {}, rotation.Propagating, "", true, intervals.Propagation,
		},
		"no endpoint": {
			func(w *world) { w.seen.EndpointFound, w.seen.Keyring = false, nil },
			rotation.Pending, rotation.EndpointNotFound, false, intervals.Propagation,
		},
		"no keyring": {
			func(w *world) { w.seen.Keyring = nil },
			rotation.Pending, rotation.KeyringNotFound, false, intervals.Propagation,
		},
		"no Secret": {missing, rotation.Pending, "SecretNotFound", false, intervals.Propagation},
		"no Secret for a minute": {
			func(w *world) { missing(w); w.to(time.Minute) },
			rotation.Pending, "SecretNotFound", false, intervals.Secret,
		},
		"endpoint suspended": {
			func(w *world) { w.seen.EndpointSuspended = true },
			rotation.Pending, rotation.EndpointSuspended, false, intervals.Secret,
		},
		"empty secret":       {unusable("SecretEmpty"), rotation.Rejected, "SecretEmpty", false, intervals.Secret},
		"masked secret":      {unusable("SecretInvalid"), rotation.Rejected, "SecretInvalid", false, intervals.Secret},
		"secret is current":  {func(w *world) { w.seen.Secret = usable("alpha") }, rotation.AlreadyCurrent, "", false, 0},
		"current, suspended": {func(w *world) { w.seen.Secret, w.seen.EndpointSuspended = usable("alpha"), true }, rotation.AlreadyCurrent, "", false, 0},
		"no receivers":       {func(w *world) { w.seen.Receivers = nil }, rotation.Propagating, rotation.NoReadyReceivers, true, intervals.Propagation},

		"an older rotation has not been looked at": {
			siblings(older(rotation.Sibling{})), rotation.Pending, rotation.WaitingForPredecessor, false, intervals.Propagation,
		},
		"an older rotation propagates": {
			siblings(older(rotation.Sibling{State: rotation.Propagating, Start: t0.Add(-time.Minute)})),
			rotation.Pending, rotation.WaitingForPredecessor, false, intervals.Propagation,
		},
		"an older rotation waits for one before it": {
			siblings(older(rotation.Sibling{State: rotation.Pending, Reason: rotation.WaitingForPredecessor})),
			rotation.Pending, rotation.WaitingForPredecessor, false, intervals.Propagation,
		},
		"an older rotation propagates, and this one is to the current secret": {
			func(w *world) {
				w.seen.Secret = usable("alpha")
				siblings(older(rotation.Sibling{State: rotation.Propagating, Start: t0}))(w)
			},
			rotation.Pending, rotation.WaitingForPredecessor, false, intervals.Propagation,
		},
		"an older rotation is overdue": {
			siblings(older(rotation.Sibling{State: rotation.Propagating, Start: t0.Add(-rotation.OverdueAfter)})),
			rotation.Propagating, "", true, intervals.Propagation,
		},
		"an older rotation has no Secret": {
			siblings(older(rotation.Sibling{State: rotation.Pending, Reason: "SecretNotFound"})),
			rotation.Propagating, "", true, intervals.Propagation,
		},
		"an older rotation is rejected": {
			siblings(older(rotation.Sibling{State: rotation.Rejected})), rotation.Propagating, "", true, intervals.Propagation,
		},
		"an older rotation is in its overlap": {
			siblings(older(rotation.Sibling{State: rotation.OverlapActive, Start: t0.Add(-time.Minute)})),
			rotation.Propagating, "", true, intervals.Propagation,
		},
		"an older rotation is finished": {
			siblings(older(rotation.Sibling{State: rotation.Completed, Start: t0.Add(-time.Hour), Finished: true})),
			rotation.Propagating, "", true, intervals.Propagation,
		},
		"a newer rotation has started": {
			siblings(newer(rotation.Sibling{State: rotation.Propagating, Start: t0.Add(time.Minute)})),
			rotation.Superseded, "", false, 0,
		},
		"a newer rotation has started and not said so yet": {
			func(w *world) {
				last := candidate("last")
				w.seen.Keyring, _, _ = w.seen.Keyring.Promote(last, w.now, w.now.Add(time.Hour))
				siblings(newer(rotation.Sibling{}))(w)
			},
			rotation.Superseded, "", false, 0,
		},
		"a newer rotation is to the secret that is current": {
			siblings(newer(rotation.Sibling{State: rotation.AlreadyCurrent, Finished: true})),
			rotation.Superseded, "", false, 0,
		},
		"a newer rotation waits": {
			siblings(newer(rotation.Sibling{State: rotation.Pending, Reason: rotation.WaitingForPredecessor})),
			rotation.Propagating, "", true, intervals.Propagation,
		},
		"a newer rotation has started while this one's Secret is missing": {
			func(w *world) {
				missing(w)
				siblings(newer(rotation.Sibling{State: rotation.OverlapActive, Start: t0}))(w)
			},
			rotation.Superseded, "", false, 0,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.arrange(w)
			d := w.plan()
			w.expect(c.state, c.reason)
			if got := d.Keyring != nil; got != c.writes {
				t.Errorf("keyring written: %t, want %t", got, c.writes)
			}
			if d.WakeAfter != c.wake {
				t.Errorf("wake after %v, want %v", d.WakeAfter, c.wake)
			}
			if d.Finished() != (c.wake == 0) {
				t.Errorf("finished: %t", d.Finished())
			}
			if d.Message == "" || strings.Contains(d.Message, "BETA") {
				t.Errorf("message %q", d.Message)
			}
			again := w.plan()
			if again.Keyring != nil || again.State != d.State || again.Message != d.Message || !again.Completion.Equal(d.Completion) {
				t.Errorf("a second look decides otherwise: %+v", again)
			}
		})
	}
}

func TestBeginPromotes(t *testing.T) {
	w := newWorld(t)
	d := w.plan()
	if got := w.texts(); got != "beta alpha" {
		t.Errorf("secrets %q", got)
	}
	if want := t0.Add(25 * time.Hour); !w.former().NotAfter.Equal(want) || w.former().Final {
		t.Errorf("provisional ceiling %v, final %t, want %v", w.former().NotAfter, w.former().Final, want)
	}
	if !d.Start.Equal(t0) || d.Propagated || !d.OverlapActive || d.PreviousRetired || d.Updated != 0 || d.Ready != 2 {
		t.Errorf("decision %+v", d)
	}
	if len(d.Current) != 12 || len(d.Previous) != 12 || d.Current == d.Previous {
		t.Errorf("fingerprints %q, %q", d.Current, d.Previous)
	}
}

func TestARejectedSecretIsMended(t *testing.T) {
	w := newWorld(t)
	w.seen.Secret = rotation.Secret{Usability: rotation.Unusable, Reason: "SecretEmpty", Problem: "Secret webhook-beta, key secret, is empty"}
	w.plan()
	w.expect(rotation.Rejected, "SecretEmpty")
	if got := w.texts(); got != "alpha" {
		t.Errorf("secrets %q", got)
	}
	w.seen.Secret = usable("beta")
	w.plan()
	w.expect(rotation.Propagating, "")
}

func TestARevokedSecretIsRejected(t *testing.T) {
	w := newWorld(t)
	w.spec.Immediate = true
	w.until(rotation.Revoked)
	w.spec, w.seen.Recorded = spec("back"), rotation.Recorded{}
	w.seen.Secret = usable("alpha")
	w.plan()
	w.expect(rotation.Rejected, rotation.SecretRevoked)
	if got := w.texts(); got != "beta" {
		t.Errorf("secrets %q", got)
	}
}

func TestAnExpiredSecretComesBackWithAnOverlapForTheFormer(t *testing.T) {
	w := newWorld(t).until(rotation.Completed)
	w.spec, w.seen.Recorded = spec("back"), rotation.Recorded{}
	w.seen.Secret = usable("alpha")
	w.plan()
	w.expect(rotation.Propagating, "")
	if got := w.texts(); got != "alpha beta" {
		t.Errorf("secrets %q", got)
	}
	if w.seen.Keyring.Standing(candidate("alpha")) != 1 || !w.former().NotAfter.Equal(w.now.Add(25*time.Hour)) {
		t.Errorf("former secret until %v", w.former().NotAfter)
	}
}
