// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/rotation"
)

// TestMessagesLookAlike compares the style of what a rotation says with that of what an endpoint says.
func TestMessagesLookAlike(t *testing.T) {
	for _, d := range []rotation.Decision{
		{State: rotation.Pending, Message: "As it is"},
		{State: rotation.Completed, Message: "As it is", Propagated: true, OverlapActive: true, PreviousRetired: true},
	} {
		c := reconcile.NewConditions(1, nil)
		setConditions(c, d)
		if _, err := settle(c, time.Minute, errors.New("no answer")); err == nil {
			t.Error("the failure is not tried again")
		}
		for _, condition := range c.List {
			if m := condition.Message; (m[0] >= 'a' && m[0] <= 'z') || strings.HasSuffix(m, ".") {
				t.Errorf("%s says %q: messages begin in upper case and end without a period", condition.Type, m)
			}
		}
	}
}

// TestWhatSomebodyMustActOnIsAWarning goes through reasons of a rotation that is not stalled.
func TestWhatSomebodyMustActOnIsAWarning(t *testing.T) {
	for reason, want := range map[string]string{
		v1alpha1.ReasonSecretNotFound:  "Warning",
		v1alpha1.ReasonRetrying:        "Warning",
		rotation.EndpointNotFound:      "Warning",
		rotation.KeyringNotFound:       "Normal",
		rotation.WaitingForPredecessor: "Normal",
	} {
		recorder := events.NewFakeRecorder(2)
		c := reconcile.NewConditions(1, nil)
		setConditions(c, rotation.Decision{State: rotation.Pending, Reason: reason, Message: "As it is"})
		(&Reconciler{recorder: recorder}).announce(&pass{object: &v1alpha1.SecretRotation{}}, c)
		select {
		case event := <-recorder.Events:
			if !strings.HasPrefix(event, want+" "+reason) {
				t.Errorf("event %q, want a %s", event, want)
			}
		default:
			t.Errorf("no event of %s", reason)
		}
	}
}

// TestFailuresKeepTheState fails to read something in every state: siblings go by the state, and a finished rotation repeats
// it for ever.
func TestFailuresKeepTheState(t *testing.T) {
	for _, state := range []rotation.State{
		rotation.Pending, rotation.Propagating, rotation.OverlapActive, rotation.Completed, rotation.Rejected,
	} {
		t.Run(string(state), func(t *testing.T) {
			was := reconcile.NewConditions(1, nil)
			setConditions(was, rotation.Decision{State: state, Reason: "Because", Message: "as it is"})
			c := reconcile.NewConditions(2, was.List)
			p := &pass{object: &v1alpha1.SecretRotation{Status: v1alpha1.SecretRotationStatus{Conditions: was.List}}}
			if _, _, err := (&Reconciler{}).conclude(p, c, errors.New("no answer")); err == nil {
				t.Error("the failure is not tried again")
			}
			ready := c.Find(v1alpha1.ConditionReady)
			if rotation.State(ready.Reason) != state || ready.Message != "as it is" {
				t.Errorf("Ready is %+v", ready)
			}
			if state != rotation.OverlapActive && state != rotation.Completed && reasonIn(c.List) != "Because" {
				t.Errorf("the reason is %s", reasonIn(c.List))
			}
			told := meta.FindStatusCondition(c.List, v1alpha1.ConditionReconciling)
			if state != rotation.Rejected && (told == nil || !strings.Contains(told.Message, "no answer")) {
				t.Errorf("Reconciling is %+v", told)
			}
		})
	}
	c := reconcile.NewConditions(1, nil)
	if _, err := settle(c, time.Minute, errors.New("no answer")); err == nil || c.Find(v1alpha1.ConditionReady) == nil {
		t.Errorf("a rotation that nothing is known of says %+v (%v)", c.List, err)
	}
}
