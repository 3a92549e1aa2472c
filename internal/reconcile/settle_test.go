// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
)

const interval = 10 * time.Second

var ready = reconcile.Ready{Reason: v1alpha1.ReasonAvailable, Message: "all is well"}

// shown is what conditions say, without times.
func shown(c *reconcile.Conditions) map[string]string {
	out := map[string]string{}
	for _, condition := range c.List {
		out[condition.Type] = fmt.Sprintf("%s/%s", condition.Status, condition.Reason)
	}
	return out
}

func TestSettle(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "x", errors.New("changed"))
	terminating := apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "x", errors.New("namespace"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	available := map[string]string{"Ready": "True/Available"}
	for name, test := range map[string]struct {
		before func(*reconcile.Conditions)
		err    error
		want   map[string]string
		result ctrl.Result
		fails  bool
	}{
		"Well":          {nil, nil, available, ctrl.Result{RequeueAfter: interval}, false},
		"Waiting":       {nil, reconcile.Waiting("Progressing", 0, "soon"), map[string]string{"Ready": "False/Progressing", "Reconciling": "True/Progressing"}, ctrl.Result{RequeueAfter: interval}, false},
		"WaitingLonger": {nil, reconcile.Waiting("Progressing", time.Minute, "later"), map[string]string{"Ready": "False/Progressing", "Reconciling": "True/Progressing"}, ctrl.Result{RequeueAfter: time.Minute}, false},
		"Terminal":      {nil, reconcile.Terminal("InvalidSpec", "wrong"), map[string]string{"Ready": "False/InvalidSpec", "Stalled": "True/InvalidSpec"}, ctrl.Result{RequeueAfter: interval}, false},
		"Wrapped":       {nil, fmt.Errorf("apply: %w", reconcile.Terminal("ResourceConflict", "taken")), map[string]string{"Ready": "False/ResourceConflict", "Stalled": "True/ResourceConflict"}, ctrl.Result{RequeueAfter: interval}, false},
		"Retry":         {nil, errors.New("timeout"), map[string]string{"Ready": "False/ProgressingWithRetry", "Reconciling": "True/ProgressingWithRetry"}, ctrl.Result{}, true},
		"RetryWhileReady": {
			func(c *reconcile.Conditions) { c.True(v1alpha1.ConditionReady, "Available", "") },
			errors.New("timeout"),
			map[string]string{"Ready": "True/Available", "Reconciling": "True/ProgressingWithRetry"},
			ctrl.Result{},
			true,
		},
		"RetryAfterAChange": {
			func(c *reconcile.Conditions) {
				c.Generation = 2
				c.True(v1alpha1.ConditionReady, "Available", "")
				c.Generation = 3
			},
			errors.New("timeout"),
			map[string]string{"Ready": "False/ProgressingWithRetry", "Reconciling": "True/ProgressingWithRetry"},
			ctrl.Result{},
			true,
		},
		"RetryAfterAChangeOfAStall": {
			func(c *reconcile.Conditions) {
				c.Generation = 2
				c.True(v1alpha1.ConditionStalled, "InvalidSpec", "")
				c.False(v1alpha1.ConditionReady, "InvalidSpec", "")
				c.Generation = 3
			},
			errors.New("timeout"),
			map[string]string{"Ready": "False/ProgressingWithRetry", "Reconciling": "True/ProgressingWithRetry"},
			ctrl.Result{},
			true,
		},
		"RetryWhileStalled": {
			func(c *reconcile.Conditions) {
				c.True(v1alpha1.ConditionStalled, "InvalidSpec", "")
				c.False(v1alpha1.ConditionReady, "InvalidSpec", "")
			},
			errors.New("timeout"),
			map[string]string{"Ready": "False/InvalidSpec", "Stalled": "True/InvalidSpec"},
			ctrl.Result{},
			true,
		},
		"Conflict":    {nil, fmt.Errorf("apply: %w", conflict), map[string]string{}, ctrl.Result{RequeueAfter: 200 * time.Millisecond}, false},
		"Terminating": {nil, fmt.Errorf("create: %w", terminating), map[string]string{"Ready": "False/NamespaceTerminating", "Reconciling": "True/NamespaceTerminating"}, ctrl.Result{RequeueAfter: interval}, false},
		"StalledThenWell": {
			func(c *reconcile.Conditions) { c.True(v1alpha1.ConditionStalled, "InvalidSpec", "") },
			nil, available,
			ctrl.Result{RequeueAfter: interval},
			false,
		},
		"ReconcilingThenTerminal": {
			func(c *reconcile.Conditions) { c.True(v1alpha1.ConditionReconciling, "Progressing", "") },
			reconcile.Terminal("InvalidSpec", "wrong"),
			map[string]string{"Ready": "False/InvalidSpec", "Stalled": "True/InvalidSpec"},
			ctrl.Result{RequeueAfter: interval},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := reconcile.NewConditions(3, nil)
			if test.before != nil {
				test.before(c)
			}
			result, err := reconcile.Settle(c, interval, ready, test.err)
			if (err != nil) != test.fails || result != test.result {
				t.Errorf("result %+v and error %v, want %+v and an error: %t", result, err, test.result, test.fails)
			}
			if diff := cmp.Diff(test.want, shown(c)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			for _, condition := range c.List {
				if condition.ObservedGeneration != 3 {
					t.Errorf("%s is about generation %d", condition.Type, condition.ObservedGeneration)
				}
			}
		})
	}
}

func TestClassifyKeepsTheCause(t *testing.T) {
	cause := errors.New("connection refused")
	fault := reconcile.Classify(fmt.Errorf("apply: %w", cause))
	if fault.Class != reconcile.ClassRetry || !errors.Is(fault, cause) || !strings.Contains(fault.Error(), "apply: connection refused") {
		t.Errorf("fault %+v", fault)
	}
	if reconcile.Classify(nil) != nil {
		t.Error("no error became a fault")
	}
}

func TestWorse(t *testing.T) {
	retry, waiting, terminal := reconcile.Retry("A", errors.New("a")), reconcile.Waiting("B", 0, "b"), reconcile.Terminal("C", "c")
	other := reconcile.Waiting("D", 0, "d")
	for _, test := range []struct{ a, b, want *reconcile.Fault }{
		{nil, nil, nil},
		{nil, retry, retry},
		{retry, nil, retry},
		{retry, waiting, waiting},
		{waiting, retry, waiting},
		{waiting, terminal, terminal},
		{terminal, waiting, terminal},
		{waiting, other, waiting},
	} {
		if got := reconcile.Worse(test.a, test.b); got != test.want {
			t.Errorf("Worse(%v, %v) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestTransitionTimeMovesOnlyWithTheStatus(t *testing.T) {
	long := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	before := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Available", LastTransitionTime: long}}
	c := reconcile.NewConditions(2, before)
	c.True("Ready", "Suspended", "as it is")
	if got := c.Find("Ready"); !got.LastTransitionTime.Equal(&long) || got.Reason != "Suspended" {
		t.Errorf("%+v", got)
	}
	if before[0].Reason != "Available" {
		t.Error("the conditions of the object were changed")
	}
	c.False("Ready", "Progressing", "not now")
	if got := c.Find("Ready"); got.LastTransitionTime.Equal(&long) {
		t.Error("the transition time stayed")
	}
	if got := c.ApplyConfigurations(); len(got) != 1 || *got[0].Reason != "Progressing" || *got[0].ObservedGeneration != 2 {
		t.Errorf("apply configuration %+v", got)
	}
}

func TestEventsAreForTransitions(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	object := &v1alpha1.WebhookEndpoint{}
	announce := func(before []metav1.Condition, edit func(*reconcile.Conditions)) string {
		c := reconcile.NewConditions(1, before)
		edit(c)
		reconcile.Announce(recorder, object, before, c)
		select {
		case event := <-recorder.Events:
			return event
		default:
			return ""
		}
	}
	up := func(c *reconcile.Conditions) { c.True(v1alpha1.ConditionReady, "Available", "receivers serve") }
	stalled := func(c *reconcile.Conditions) {
		c.False(v1alpha1.ConditionReady, "InvalidSpec", "wrong")
		c.True(v1alpha1.ConditionStalled, "InvalidSpec", "wrong")
	}
	before := reconcile.NewConditions(1, nil)
	up(before)
	if got := announce(nil, up); got != "Normal Available receivers serve" {
		t.Errorf("first event %q", got)
	}
	if got := announce(before.List, up); got != "" {
		t.Errorf("event without a transition: %q", got)
	}
	if got := announce(before.List, stalled); got != "Warning InvalidSpec wrong" {
		t.Errorf("event of a stall %q", got)
	}
	for reason, want := range map[string]string{
		v1alpha1.ReasonSecretNotFound:      "Warning",
		v1alpha1.ReasonRetrying:            "Warning",
		v1alpha1.ReasonDatabaseUnreachable: "Warning",
		v1alpha1.ReasonProgressing:         "Normal",
		v1alpha1.ReasonTerminating:         "Normal",
	} {
		got := announce(before.List, func(c *reconcile.Conditions) { c.False(v1alpha1.ConditionReady, reason, "so it is") })
		if got != want+" "+reason+" so it is" {
			t.Errorf("event %q, want a %s", got, want)
		}
	}
}

func TestWarningsOfConditions(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	const kind, reason = v1alpha1.ConditionDeliveriesHealthy, v1alpha1.ReasonEffectsFailing
	c := reconcile.NewConditions(1, nil)
	for _, step := range []struct {
		say  func()
		want int
	}{
		{func() { c.True(kind, "WithinThreshold", "No delivery has failed") }, 0},
		{func() { c.False(kind, reason, "One fails") }, 1},
		{func() { c.False(kind, reason, "One fails") }, 0},
		{func() { c.False(kind, reason, "Another fails") }, 1},
		{func() { c.False(kind, "DeliveriesFailing", "Deliveries fail") }, 0},
		{func() { c.Clear(kind) }, 0},
	} {
		before := reconcile.NewConditions(1, c.List).List
		step.say()
		reconcile.Warn(recorder, &v1alpha1.WebhookEndpoint{}, before, c, kind, reason)
		if got := len(recorder.Events); got != step.want {
			t.Errorf("%d events of %+v, want %d", got, c.List, step.want)
		}
		for range len(recorder.Events) {
			if event := <-recorder.Events; !strings.HasPrefix(event, "Warning EffectsFailing ") {
				t.Errorf("event %q", event)
			}
		}
	}
}
