// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// conflictDelay is how long a pass waits after somebody else changed an object in between: long enough for the cache to
// see the change, short enough not to be noticed.
const conflictDelay = 200 * time.Millisecond

// Ready is what the condition Ready says when a pass ends without a fault.
type Ready struct {
	Reason  string
	Message string
}

// Settle turns the end of a pass into the kstatus conditions and the result of Reconcile. It is the one place that acts on
// a fault's class:
//
//	none      Ready=True                                                next pass after interval
//	waiting   Ready=False, Reconciling=True                             next pass after the fault's own delay or interval
//	terminal  Ready=False, Stalled=True                                 likewise: Secrets are polled, so a remedy is seen
//	retry     Ready stays if it is True, else False; Reconciling=True   the error, for a growing delay
//	          (all stays as it is if Stalled is True)
//
// What stays is what was said of the same generation: nothing is known of a changed spec before a pass over it has ended.
// A write conflict is a retry that nobody hears of.
func Settle(c *Conditions, interval time.Duration, ready Ready, err error) (ctrl.Result, error) {
	if err != nil && apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	}
	fault := Classify(err)
	if fault == nil {
		c.Clear(v1alpha1.ConditionReconciling)
		c.Clear(v1alpha1.ConditionStalled)
		c.True(v1alpha1.ConditionReady, ready.Reason, "%s", ready.Message)
		return ctrl.Result{RequeueAfter: interval}, nil
	}
	after := fault.After
	if after <= 0 {
		after = interval
	}
	switch fault.Class {
	case ClassTerminal:
		c.Clear(v1alpha1.ConditionReconciling)
		c.True(v1alpha1.ConditionStalled, fault.Reason, "%s", fault.Error())
		c.False(v1alpha1.ConditionReady, fault.Reason, "%s", fault.Error())
		return ctrl.Result{RequeueAfter: after}, nil
	case ClassWaiting:
		c.Clear(v1alpha1.ConditionStalled)
		c.True(v1alpha1.ConditionReconciling, fault.Reason, "%s", fault.Error())
		c.False(v1alpha1.ConditionReady, fault.Reason, "%s", fault.Error())
		return ctrl.Result{RequeueAfter: after}, nil
	default:
		if c.Holds(v1alpha1.ConditionStalled) {
			return ctrl.Result{}, fault
		}
		c.Clear(v1alpha1.ConditionStalled)
		c.True(v1alpha1.ConditionReconciling, fault.Reason, "Trying again: %s", fault.Error())
		if !c.Holds(v1alpha1.ConditionReady) {
			c.False(v1alpha1.ConditionReady, fault.Reason, "Trying again: %s", fault.Error())
		}
		return ctrl.Result{}, fault
	}
}

// Announce records one event if Ready has another status or reason than before the pass, and none otherwise. It is a warning
// if somebody must act, or an error is being retried.
func Announce(recorder events.EventRecorder, regarding runtime.Object, before []metav1.Condition, after *Conditions) {
	now := after.Find(v1alpha1.ConditionReady)
	if now == nil {
		return
	}
	was := NewConditions(0, before).Find(v1alpha1.ConditionReady)
	if was != nil && was.Status == now.Status && was.Reason == now.Reason {
		return
	}
	kind := corev1.EventTypeNormal
	if now.Status != metav1.ConditionTrue && !bySelf[now.Reason] {
		kind = corev1.EventTypeWarning
	}
	recorder.Eventf(regarding, nil, kind, now.Reason, action, "%s", now.Message)
}

// action of every event: what the operator was doing.
const action = "Reconcile"

// bySelf are the reasons of what goes away without anybody acting, and without an error.
var bySelf = map[string]bool{
	v1alpha1.ReasonProgressing: true, v1alpha1.ReasonTerminating: true,
	v1alpha1.ReasonReplayCounting: true, v1alpha1.ReasonReplaySending: true,
}

// Warn records one event if a condition is False for the given reason and was not before the pass, or said something else.
func Warn(
	recorder events.EventRecorder, regarding runtime.Object, before []metav1.Condition, after *Conditions, kind, reason string,
) {
	now := after.Find(kind)
	if now == nil || now.Status != metav1.ConditionFalse || now.Reason != reason {
		return
	}
	was := NewConditions(0, before).Find(kind)
	if was != nil && was.Status == now.Status && was.Reason == now.Reason && was.Message == now.Message {
		return
	}
	recorder.Eventf(regarding, nil, corev1.EventTypeWarning, reason, action, "%s", now.Message)
}

// Recovered records one event if a condition is True and was False before the pass.
func Recovered(recorder events.EventRecorder, regarding runtime.Object, before []metav1.Condition, after *Conditions, kind string) {
	now, was := after.Find(kind), NewConditions(0, before).Find(kind)
	if now == nil || was == nil || now.Status != metav1.ConditionTrue || was.Status != metav1.ConditionFalse {
		return
	}
	recorder.Eventf(regarding, nil, corev1.EventTypeNormal, kind, action, "%s", now.Message)
}
