// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
	v1alpha1ac "github.com/hookonce/hookonce/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/rotation"
)

// What asked for a rotation.
const (
	triggerRotation = "SecretRotation"
	triggerChange   = "SecretChange"
)

// recordedIn is what a status says, as Plan wants it.
func recordedIn(status *v1alpha1.SecretRotationStatus) rotation.Recorded {
	recorded := rotation.Recorded{
		Propagated:      meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionPropagated),
		PreviousRetired: meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionPreviousRetired),
		Start:           timeOf(status.StartTime),
		PropagatedTime:  timeOf(status.PropagatedTime),
		Completion:      timeOf(status.CompletionTime),
		LastOldUse:      timeOf(status.LastOldUseTime),
		Current:         status.CurrentFingerprint,
		Previous:        status.PreviousFingerprint,
	}
	if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); ready != nil {
		recorded.State, recorded.Message = rotation.State(ready.Reason), ready.Message
	}
	// A text that is no time was not written by this controller: the keyring knows better.
	if end, err := time.Parse(time.RFC3339, status.OverlapEndTime); err == nil {
		recorded.OverlapEnd = end
	}
	return recorded
}

// siblingOf is what a status says of another rotation.
func siblingOf(object *v1alpha1.SecretRotation) rotation.Sibling {
	recorded := recordedIn(&object.Status)
	sibling := rotation.Sibling{
		UID: string(object.UID), Name: object.Name, Created: object.CreationTimestamp.Time,
		Source:    keyring.Source{Name: object.Spec.SecretRef.Name, Key: object.Spec.SecretRef.Key},
		Immediate: object.Spec.Revocation == v1alpha1.RevocationImmediate,
		State:     recorded.State, Reason: reasonIn(object.Status.Conditions), Start: recorded.Start,
		Finished: !recorded.Completion.IsZero(),
	}
	if meta.IsStatusConditionTrue(object.Status.Conditions, v1alpha1.ConditionStalled) {
		sibling.State = rotation.Rejected
	}
	return sibling
}

// reasonIn is the reason that says most: that of Reconciling or Stalled, which are there when there is more to say than
// the state.
func reasonIn(conditions []metav1.Condition) string {
	for _, kind := range []string{v1alpha1.ConditionStalled, v1alpha1.ConditionReconciling, v1alpha1.ConditionReady} {
		if condition := meta.FindStatusCondition(conditions, kind); condition != nil {
			return condition.Reason
		}
	}
	return ""
}

// setConditions says a decision as conditions. An overlap is what the rotation asks for, so it is Ready and not
// Reconciling: who waits for the rotation waits for the new secret, not for the end of the overlap.
func setConditions(c *reconcile.Conditions, d rotation.Decision) {
	state := string(d.State)
	c.Set(v1alpha1.ConditionReady, status(d.State.Ready()), state, "%s", d.Message)
	present(c, v1alpha1.ConditionReconciling, d.State.Reconciling(), d)
	present(c, v1alpha1.ConditionStalled, d.State.Stalled(), d)
	if d.Propagated {
		c.True(v1alpha1.ConditionPropagated, state, "Every ready receiver accepts the new secret")
	} else {
		c.False(v1alpha1.ConditionPropagated, state, "Not every ready receiver accepts the new secret: do not let the provider switch yet")
	}
	if d.OverlapActive {
		c.True(v1alpha1.ConditionOverlapActive, v1alpha1.ReasonDualSecrets, "The new and the former secret are accepted")
	} else {
		c.False(v1alpha1.ConditionOverlapActive, v1alpha1.ReasonSingleSecret, "No former secret is accepted because of this rotation")
	}
	if d.OldInUse {
		c.True(v1alpha1.ConditionOldSecretStillInUse, rotation.OldSecretStillInUse, "%s", d.OldInUseMessage)
	} else {
		c.Clear(v1alpha1.ConditionOldSecretStillInUse)
	}
	if d.PreviousRetired {
		c.True(v1alpha1.ConditionPreviousRetired, state, "No receiver accepts the former secret")
	} else {
		c.False(v1alpha1.ConditionPreviousRetired, state, "The former secret is not gone from every receiver")
	}
}

// settle says a failure as conditions. One that may be gone at the next try leaves every reason as it is: they are the
// state, by which siblings go and which a finished rotation repeats. The message tells of it.
func settle(c *reconcile.Conditions, interval time.Duration, failure error) (ctrl.Result, error) {
	fault := reconcile.Classify(failure)
	if fault.Class != reconcile.ClassRetry || c.Find(v1alpha1.ConditionReady) == nil {
		return reconcile.Settle(c, interval, reconcile.Ready{}, failure)
	}
	if c.Is(v1alpha1.ConditionStalled, metav1.ConditionTrue) {
		return ctrl.Result{}, fault
	}
	reason := fault.Reason
	if reconciling := c.Find(v1alpha1.ConditionReconciling); reconciling != nil {
		reason = reconciling.Reason
	}
	c.True(v1alpha1.ConditionReconciling, reason, "Trying again: %s", fault.Error())
	return ctrl.Result{}, fault
}

// present sets a condition that is only there when it is True. One that stays is not taken away in between: it would come
// back with another transition time, which is a write.
func present(c *reconcile.Conditions, kind string, is bool, d rotation.Decision) {
	if !is {
		c.Clear(kind)
		return
	}
	c.True(kind, d.Reason, "%s", d.Message)
}

func status(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// statusOf is the status after a pass, without its conditions.
func statusOf(p *pass) *v1alpha1ac.SecretRotationStatusApplyConfiguration {
	d := p.decision
	after := p.object.DeepCopy()
	after.Status.Trigger = triggerRotation
	if owned(p.object) {
		after.Status.Trigger = triggerChange
	}
	after.Status.StartTime = timePointer(d.Start)
	after.Status.PropagatedTime = timePointer(d.PropagatedTime)
	after.Status.CompletionTime = timePointer(d.Completion)
	after.Status.LastOldUseTime = timePointer(d.LastOldUse)
	after.Status.CurrentFingerprint = d.Current
	after.Status.PreviousFingerprint = d.Previous
	after.Status.OverlapEndTime = ""
	if !d.OverlapEnd.IsZero() {
		after.Status.OverlapEndTime = d.OverlapEnd.UTC().Format(time.RFC3339)
	}
	if d.Ready >= 0 {
		after.Status.Receivers = receiversOf(p.endpoint, d)
	}
	return statusAsItWas(after)
}

// receiversOf says how many receivers are as far as the rotation waits for. More may be ready than are desired, during a
// rollout of the receivers.
func receiversOf(endpoint *v1alpha1.WebhookEndpoint, d rotation.Decision) *v1alpha1.ReceiversStatus {
	ready, updated := int32(d.Ready), int32(d.Updated) //nolint:gosec // an endpoint has at most 64 receivers
	desired := render.Replicas(endpoint)
	return &v1alpha1.ReceiversStatus{
		Desired: desired,
		Ready:   ready,
		Updated: updated,
		Summary: fmt.Sprintf("%d/%d", updated, max(desired, ready)),
	}
}

// statusAsItWas is what the status has, without its conditions: everything that this controller owns has to be applied
// again, or it goes.
func statusAsItWas(object *v1alpha1.SecretRotation) *v1alpha1ac.SecretRotationStatusApplyConfiguration {
	was := &object.Status
	after := v1alpha1ac.SecretRotationStatus().WithObservedGeneration(object.Generation)
	after.StartTime, after.PropagatedTime = was.StartTime, was.PropagatedTime
	after.CompletionTime, after.LastOldUseTime = was.CompletionTime, was.LastOldUseTime
	after.Trigger = textPointer(was.Trigger)
	after.OverlapEndTime = textPointer(was.OverlapEndTime)
	after.CurrentFingerprint = textPointer(was.CurrentFingerprint)
	after.PreviousFingerprint = textPointer(was.PreviousFingerprint)
	if r := was.Receivers; r != nil {
		after.WithReceivers(v1alpha1ac.ReceiversStatus().
			WithDesired(r.Desired).WithReady(r.Ready).WithUpdated(r.Updated).WithSummary(r.Summary))
	}
	return after
}

// withStatus is the object to apply.
func withStatus(
	object *v1alpha1.SecretRotation, after *v1alpha1ac.SecretRotationStatusApplyConfiguration,
) *v1alpha1ac.SecretRotationApplyConfiguration {
	return v1alpha1ac.SecretRotation(object.Name, object.Namespace).WithStatus(after)
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func timePointer(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

func textPointer(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
