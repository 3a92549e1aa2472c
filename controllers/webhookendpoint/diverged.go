// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
)

// lead is what made the current secret current, while the spec names a former one.
type lead struct {
	// rotation is the name of the SecretRotation; empty if it is gone.
	rotation string
	// owned says that the operator made it because the spec, or the Secret that it names, had changed.
	owned bool
	// pruned says that the rotation is gone, and the Secret that the current secret came from too.
	pruned bool
}

// readLead finds what made the current secret current.
func (r *Reconciler) readLead(ctx context.Context, p *pass) (lead, error) {
	var rotations v1alpha1.SecretRotationList
	if err := r.client.List(ctx, &rotations, client.InNamespace(p.endpoint.Namespace)); err != nil {
		return lead{}, fmt.Errorf("list SecretRotations: %w", err)
	}
	for i := range rotations.Items {
		rotation := &rotations.Items[i]
		if string(rotation.UID) == p.ring.Current.Rotation && rotation.DeletionTimestamp.IsZero() {
			return lead{rotation: rotation.Name, owned: metav1.IsControlledBy(rotation, p.endpoint)}, nil
		}
	}
	source := p.ring.Current.Source
	_, fault, err := reconcile.ReadKey(ctx, r.client, p.endpoint.Namespace, v1alpha1.SecretKeyReference{Name: source.Name, Key: source.Key})
	if err != nil {
		return lead{}, err
	}
	return lead{pruned: fault != nil && fault.Class == reconcile.ClassWaiting}, nil
}

// ahead says that the keyring is ahead of the spec: the Secret that the spec names holds a former secret, and the current
// one came from another Secret, which the spec has not named yet. It is not if the spec was what made the current secret
// current, nor if the spec did name it and the SecretRotation has been taken back with the spec: in both cases the spec is
// what people want now.
func (p *pass) ahead() bool {
	if !p.found.former() || p.ring.Current.Source == sourceOf(p.endpoint) || p.found.lead.owned {
		return false
	}
	return p.found.lead.rotation != "" || !p.reverted()
}

// reverted says that the spec named the Secret of the current secret, and has been changed to name that of a former one. It
// is what the status says of the same current secret: that the spec did not differ from it then, or that it was reverted.
func (p *pass) reverted() bool {
	was := &p.endpoint.Status
	if was.CurrentSecret == nil || was.CurrentSecret.Fingerprint != keyring.Short(p.ring.Current.Fingerprint) {
		return false
	}
	diverged := meta.FindStatusCondition(was.Conditions, v1alpha1.ConditionSourceDiverged)
	return diverged == nil || diverged.Status != metav1.ConditionTrue || diverged.Reason == v1alpha1.ReasonSecretRefReverted
}

// diverged says what to do about a spec that the keyring is ahead of.
func (p *pass) diverged() string {
	current, by := p.ring.Current.Source, p.found.lead
	line := fmt.Sprintf("set spec.verification.secretRef to {name: %s, key: %s}", current.Name, current.Key)
	switch {
	case by.pruned:
		return fmt.Sprintf("A SecretRotation made another secret current, and its Secret %s is gone: receivers go on with the bytes in the "+
			"keyring; put that Secret back and %s, or put a new secret where the spec says", current.Name, line)
	case by.rotation != "" && p.reverted():
		return fmt.Sprintf("The spec names a former secret again, and SecretRotation %s made another one current: %s, "+
			"or delete that SecretRotation to go back to the former secret", by.rotation, line)
	default:
		return "A SecretRotation made another secret current: " + line
	}
}

// revoked says what to do about a spec that names a revoked secret.
func (p *pass) revoked() string {
	ref, current := sourceOf(p.endpoint), p.ring.Current.Source
	problem := fmt.Sprintf("Secret %s, key %q holds a secret that was revoked and stays refused", ref.Name, ref.Key)
	if ref == current {
		return problem + ": put a new one there"
	}
	return fmt.Sprintf("%s, while receivers go on with the current one: set spec.verification.secretRef to {name: %s, key: %s}, "+
		"which that came from, or put a new secret where the spec says", problem, current.Name, current.Key)
}
