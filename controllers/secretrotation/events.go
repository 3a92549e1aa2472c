// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/rotation"
)

const (
	// action of every event: what the controller was doing.
	action = "Rotate"
	// reasonEvicted says that a former secret had to make room before its time.
	reasonEvicted = "PreviousSecretEvicted"
)

// announceEvicted records an event for each secret that this pass has removed before its time. It comes before the status
// is written, for a pass that follows a failure would not know of them.
func (r *Reconciler) announceEvicted(p *pass) {
	for _, fingerprint := range p.decision.Evicted {
		r.recorder.Eventf(p.object, nil, corev1.EventTypeWarning, reasonEvicted, action,
			"The former secret %s is refused before its time: too many former secrets were still accepted", fingerprint)
	}
}

// warnOfUse records an event when the former secret is first found in use near its end.
func (r *Reconciler) warnOfUse(p *pass, after *reconcile.Conditions) {
	inUse := after.Find(v1alpha1.ConditionOldSecretStillInUse)
	if inUse == nil || meta.FindStatusCondition(p.object.Status.Conditions, v1alpha1.ConditionOldSecretStillInUse) != nil {
		return
	}
	r.recorder.Eventf(p.object, nil, corev1.EventTypeWarning, inUse.Reason, action, "%s", inUse.Message)
}

// announce records an event if the state has changed with this pass, and none if it has not.
func (r *Reconciler) announce(p *pass, after *reconcile.Conditions) {
	ready := after.Find(v1alpha1.ConditionReady)
	if ready == nil {
		return
	}
	before := p.object.Status.Conditions
	was, reason := meta.FindStatusCondition(before, v1alpha1.ConditionReady), reasonIn(after.List)
	same := was != nil && was.Reason == ready.Reason && was.Status == ready.Status
	if same && (reasonIn(before) == reason || !warns(reason)) {
		return
	}
	kind := corev1.EventTypeNormal
	if warns(reason) || after.Find(v1alpha1.ConditionStalled) != nil {
		kind = corev1.EventTypeWarning
	}
	r.recorder.Eventf(p.object, nil, kind, reason, action, "%s", ready.Message)
}

// warns says whether a reason is worth a warning though the rotation is not stalled: somebody must act, or an error is being
// retried.
func warns(reason string) bool {
	switch reason {
	case rotation.PropagationOverdue, rotation.KeyringLost, rotation.EndpointNotFound,
		v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonSecretKeyMissing, v1alpha1.ReasonRetrying:
		return true
	default:
		return false
	}
}
