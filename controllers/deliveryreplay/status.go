// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package deliveryreplay

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
	v1alpha1ac "github.com/hookonce/hookonce/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/reconcile"
)

// numbersInterval is how often numbers are written that change while the state does not.
const numbersInterval = 30 * time.Second

// report writes the status, records an event for a change of state, and says when to look again.
func (r *Reconciler) report(ctx context.Context, p *pass, failure error) (ctrl.Result, error) {
	conditions := reconcile.NewConditions(p.object.Generation, p.object.Status.Conditions)
	result, failure := r.conclude(p, conditions, failure)
	status := r.statusOf(p, conditions, failure == nil)
	desired := v1alpha1ac.DeliveryReplay(p.object.Name, p.object.Namespace).
		WithStatus(status.WithConditions(conditions.ApplyConfigurations()...))
	_, err := r.applier.ApplyStatus(ctx, desired, p.object, reconcile.FieldOwner)
	switch {
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	case apierrors.IsConflict(err):
		return reconcile.Settle(conditions, 0, reconcile.Ready{}, err)
	case err != nil:
		return ctrl.Result{}, err
	}
	reconcile.Announce(r.recorder, p.object, p.object.Status.Conditions, conditions)
	return result, failure
}

// conclude sets the conditions.
func (r *Reconciler) conclude(p *pass, c *reconcile.Conditions, failure error) (ctrl.Result, error) {
	d := p.decision
	if failure != nil {
		return reconcile.Settle(c, r.options.Interval, reconcile.Ready{}, failure)
	}
	if d.unknown {
		return ctrl.Result{RequeueAfter: r.options.Interval}, nil
	}
	ready := reconcile.Ready{Reason: d.state, Message: d.message}
	result, failure := reconcile.Settle(c, r.options.Interval, ready, d.fault(r.options.Interval))
	if p.progress == nil {
		c.False(v1alpha1.ConditionCounted, d.state, "The deliveries that match are not counted yet")
	} else {
		c.True(v1alpha1.ConditionCounted, v1alpha1.ConditionCounted, "%d deliveries match", p.progress.Matched)
	}
	if d.finished {
		c.True(v1alpha1.ConditionComplete, d.state, "%s", d.message)
		result = ctrl.Result{}
	} else {
		c.False(v1alpha1.ConditionComplete, d.state, "%s", d.message)
	}
	return result, failure
}

// fault is what the state means for Ready, Reconciling and Stalled; nil if the replay is as far as it can be without its
// deliveries' attempts, or somebody's approval: who waits for a manifest to be applied does not wait for those.
func (d decision) fault(interval time.Duration) error {
	switch d.state {
	case v1alpha1.ReasonReplayCounting, v1alpha1.ReasonReplaySending:
		return reconcile.Waiting(d.state, interval, "%s", d.message)
	case v1alpha1.ReasonReplayTooManyFailures:
		return reconcile.Terminal(d.state, "%s", d.message)
	}
	return nil
}

// statusOf is the status after a pass, without its conditions. What this controller owns and does not apply again goes.
func (r *Reconciler) statusOf(
	p *pass, conditions *reconcile.Conditions, understood bool,
) *v1alpha1ac.DeliveryReplayStatusApplyConfiguration {
	was := &p.object.Status
	after := v1alpha1ac.DeliveryReplayStatus().WithObservedGeneration(p.object.Generation)
	after.Matched, after.Sent, after.Skipped = was.Matched, was.Sent, was.Skipped
	after.Succeeded, after.Failed = was.Succeeded, was.Failed
	after.ObservedTime, after.CompletionTime = was.ObservedTime, was.CompletionTime
	if p.progress == nil || !understood {
		return after
	}
	now := metav1.NewTime(r.now().UTC().Truncate(time.Second))
	if r.worthWriting(was, conditions, p.progress) {
		after.WithMatched(p.progress.Matched).WithSent(p.progress.Sent).WithSkipped(p.progress.Skipped).
			WithSucceeded(p.progress.Succeeded).WithFailed(p.progress.Failed).WithObservedTime(now)
	}
	if p.decision.finished && was.CompletionTime == nil {
		after.WithCompletionTime(now)
	}
	return after
}

// worthWriting says whether the numbers are written: at once with a change of state, else now and then.
func (r *Reconciler) worthWriting(
	was *v1alpha1.DeliveryReplayStatus, conditions *reconcile.Conditions, progress *receiverstatus.Replay,
) bool {
	if was.ObservedTime == nil || was.Matched == nil {
		return true
	}
	before := reconcile.NewConditions(0, was.Conditions).Find(v1alpha1.ConditionReady)
	now := conditions.Find(v1alpha1.ConditionReady)
	if before == nil || before.Reason != now.Reason {
		return true
	}
	same := equal(was.Sent, progress.Sent) && equal(was.Skipped, progress.Skipped) &&
		equal(was.Succeeded, progress.Succeeded) && equal(was.Failed, progress.Failed)
	return !same && r.now().Sub(was.ObservedTime.Time) >= numbersInterval
}

func equal(a *int64, b int64) bool { return a != nil && *a == b }
