// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/rotation"
)

// arrangements bring a rotation to beta into each of the states.
var arrangements = map[rotation.State]func(*world){
	rotation.Pending:        func(w *world) { w.seen.Secret = missing; w.plan() },
	rotation.Rejected:       func(w *world) { w.seen.Secret = spoiled; w.plan() },
	rotation.AlreadyCurrent: func(w *world) { w.seen.Secret = usable("alpha"); w.plan() },
	rotation.Propagating:    func(w *world) { w.until(rotation.Propagating) },
	rotation.OverlapActive:  func(w *world) { w.until(rotation.OverlapActive) },
	rotation.Retiring:       func(w *world) { w.until(rotation.Retiring) },
	rotation.Completed:      func(w *world) { w.until(rotation.Completed) },
	rotation.Revoked:        func(w *world) { w.spec.Immediate = true; w.until(rotation.Revoked) },
	rotation.Superseded: func(w *world) {
		w.until(rotation.OverlapActive)
		w.follow(w.another("gamma").until(rotation.OverlapActive)).plan()
	},
}

var (
	missing = rotation.Secret{Reason: "SecretNotFound", Problem: "Secret webhook-beta does not exist"}
	spoiled = rotation.Secret{Usability: rotation.Unusable, Reason: "SecretEmpty", Problem: "Secret webhook-beta, key secret, is empty"}
)

// input is something that happens to a rotation in any state.
type input string

// The inputs, each a change of one thing that Plan looks at.
const (
	nothing          input = "nothing happens"
	secretComes      input = "the Secret is usable"
	secretGoes       input = "the Secret is gone"
	secretSpoils     input = "the Secret is empty"
	secretIsFormer   input = "the Secret holds the former secret"
	receiversLoad    input = "receivers have loaded the keyring"
	receiversLag     input = "receivers are behind by all"
	noReceivers      input = "no receiver is there"
	timeOfOverdue    input = "five minutes pass"
	timeOfOverlap    input = "two days pass"
	endpointGoes     input = "the endpoint is deleted"
	endpointSuspends input = "the endpoint is suspended"
	keyringGoes      input = "the keyring is deleted"
	keyringAnew      input = "the keyring was made anew of beta"
	statusLost       input = "the status is lost"
	becomesImmediate input = "revocation becomes Immediate"
	overlapShortens  input = "the overlap becomes 0s"
	overlapLengthens input = "the overlap becomes 168h"
	capped           input = "previousNotAfter is in the past"
	siblingLater     input = "a later rotation has started"
	siblingBefore    input = "a rotation before it propagates"
)

// happen applies the inputs.
var happen = map[input]func(*world){
	nothing:          func(*world) {},
	secretComes:      func(w *world) { w.seen.Secret = usable("beta") },
	secretGoes:       func(w *world) { w.seen.Secret = missing },
	secretSpoils:     func(w *world) { w.seen.Secret = spoiled },
	secretIsFormer:   func(w *world) { w.seen.Secret = usable("alpha") },
	receiversLoad:    func(w *world) { w.load(0, 1) },
	receiversLag:     func(w *world) { w.seen.Receivers[0].Revision, w.seen.Receivers[1].Revision = 0, 0 },
	noReceivers:      func(w *world) { w.seen.Receivers = nil },
	timeOfOverdue:    func(w *world) { w.now = w.now.Add(rotation.OverdueAfter) },
	timeOfOverlap:    func(w *world) { w.now = w.now.Add(48 * time.Hour) },
	endpointGoes:     func(w *world) { w.seen.EndpointFound, w.seen.Keyring = false, nil },
	endpointSuspends: func(w *world) { w.seen.EndpointSuspended = true },
	keyringGoes:      func(w *world) { w.seen.Keyring = nil },
	keyringAnew: func(w *world) {
		made := candidate("beta")
		made.Rotation, made.Name = "", ""
		w.seen.Keyring, _, _ = adopted(w.t).Promote(made, w.now, w.now)
		w.seen.Keyring = w.seen.Keyring.Retire(w.now)
	},
	statusLost:       func(w *world) { w.seen.Recorded = rotation.Recorded{} },
	becomesImmediate: func(w *world) { w.spec.Immediate = true },
	overlapShortens:  func(w *world) { w.spec.Overlap = 0 },
	overlapLengthens: func(w *world) { w.spec.Overlap = 168 * time.Hour },
	capped:           func(w *world) { w.spec.PreviousNotAfter = t0.Add(-time.Hour) },
	siblingLater: func(w *world) {
		w.seen.Siblings = []rotation.Sibling{{UID: "uid-z", Name: "z", Created: w.now.Add(time.Second), Start: w.now, State: rotation.Propagating}}
	},
	siblingBefore: func(w *world) {
		w.seen.Siblings = []rotation.Sibling{{UID: "uid-a", Name: "a", Created: t0.Add(-time.Second), Start: w.now, State: rotation.Propagating}}
	},
}

// Every input in every state: what state follows, and which secrets are in the keyring then. The states and the inputs are
// those that the sources declare, so that a new one has to have its cells.
func TestEveryInputInEveryState(t *testing.T) {
	if declared := constants(t, "state.go", "State"); declared != len(states) || len(arrangements) != len(states) {
		t.Errorf("%d states are declared, the table has %d and %d are arranged", declared, len(states), len(arrangements))
	}
	if declared := constants(t, "table_test.go", "input"); declared != len(table) || len(happen) != len(table) {
		t.Errorf("%d inputs are declared, the table has %d and %d happen", declared, len(table), len(happen))
	}
	for column, state := range states {
		for what, apply := range happen {
			want := table[what][column]
			if want == "" {
				t.Errorf("%s, %s: the table has no such cell", state, what)
			}
			t.Run(fmt.Sprintf("%s/%s", state, what), func(t *testing.T) {
				w := newWorld(t)
				arrangements[state](w)
				if w.last.State != state {
					t.Fatalf("the arrangement ends in %s", w.last.State)
				}
				w.now = w.now.Add(time.Second)
				apply(w)
				was := w.seen.Keyring
				d := w.plan()
				got := same
				switch {
				case w.seen.Keyring != was:
					got = string(d.State) + ": " + w.texts()
				case d.State != state:
					got = string(d.State)
				}
				if got != want {
					t.Errorf("state %s, %s: %q, want %q", state, what, got, want)
				}
				judge(t, w, d)
			})
		}
	}
}

// constants counts those of a type in a file of this folder.
func constants(t *testing.T, file, kind string) int {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(parsed, func(node ast.Node) bool {
		if value, ok := node.(*ast.ValueSpec); ok && len(value.Values) == 1 {
			if name, ok := value.Type.(*ast.Ident); ok && name.Name == kind {
				n++
			}
		}
		return true
	})
	return n
}

// judge checks what holds of every decision.
func judge(t *testing.T, w *world, d rotation.Decision) {
	t.Helper()
	if d.State.Ready() == (d.State.Reconciling() || d.State.Stalled()) {
		t.Errorf("%s: Ready %t, Reconciling %t, Stalled %t", d.State, d.State.Ready(), d.State.Reconciling(), d.State.Stalled())
	}
	if d.Finished() != (d.WakeAfter == 0) {
		t.Errorf("finished %t, looks again after %v", d.Finished(), d.WakeAfter)
	}
	if d.Reason == "" || d.Message == "" {
		t.Errorf("reason %q, message %q", d.Reason, d.Message)
	}
	if ring := w.seen.Keyring; ring != nil {
		if _, err := ring.Encode(); err != nil {
			t.Errorf("keyring: %v", err)
		}
	}
	again := w.plan()
	if again.Keyring != nil || again.State != d.State || again.Message != d.Message {
		t.Errorf("a second look decides otherwise: %s (%s), then %s (%s)", d.State, d.Message, again.State, again.Message)
	}
}
