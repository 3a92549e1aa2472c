// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// rotate asks for a SecretRotation when the bytes under the spec's secretRef are not those that are live. Its name comes
// from the keyring's revision and the secret, so that one change asks once, whatever happens in between.
func (r *Reconciler) rotate(ctx context.Context, p *pass) error {
	if p.candidate == nil || !p.changed() {
		return nil
	}
	fingerprint := p.ring.Fingerprint(p.candidate.Key)
	name, asked, err := r.asked(ctx, p, fingerprint)
	if err != nil || asked {
		return err
	}
	if current, err := r.current(ctx, p); err != nil || !current {
		return err
	}
	rotation := &v1alpha1.SecretRotation{
		ObjectMeta: metav1.ObjectMeta{
			Name:      name,
			Namespace: p.endpoint.Namespace,
			Labels:    render.Labels(p.endpoint.Name, render.NameReceiver),
		},
		Spec: v1alpha1.SecretRotationSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: p.endpoint.Name},
			SecretRef:   p.endpoint.Spec.Verification.SecretRef,
			Overlap:     p.endpoint.Spec.Verification.Overlap,
			Retire:      p.endpoint.Spec.Verification.Retire,
			MaxOverlap:  p.endpoint.Spec.Verification.MaxOverlap,
		},
	}
	if err := controllerutil.SetControllerReference(p.endpoint, rotation, r.client.Scheme()); err != nil {
		return fmt.Errorf("own SecretRotation %s: %w", rotation.Name, err)
	}
	err = r.client.Create(ctx, rotation, reconcile.FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create SecretRotation %s: %w", rotation.Name, err)
	}
	log.FromContext(ctx).Info("Asked for a rotation: the signing secret has changed",
		"rotation", rotation.Name, "fingerprint", keyring.Short(fingerprint))
	return nil
}

// current says whether the cache shows the spec that is in force. A cache that is behind, as after a restart, may name the
// former secret, and the secret that has just become current would be rotated away.
func (r *Reconciler) current(ctx context.Context, p *pass) (bool, error) {
	live := &v1alpha1.WebhookEndpoint{}
	err := r.applier.Live.Get(ctx, p.key(), live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read WebhookEndpoint %s: %w", p.endpoint.Name, err)
	}
	return err == nil && live.UID == p.endpoint.UID && live.Generation == p.endpoint.Generation, nil
}

// changed says whether the secret that the spec names should become current: it is new, or it is a former one again, as
// after a reverted commit. A former secret may also mean that a SecretRotation is ahead of the spec.
func (p *pass) changed() bool {
	switch p.found.standing {
	case keyring.IsUnknown:
		return true
	case keyring.IsPrevious, keyring.IsExpired:
		return !p.ahead()
	default:
		return false
	}
}

// asked says whether the rotation has been asked for: under a name that the operator gives it, or by somebody else's
// SecretRotation that has not begun, and that has its own overlap. If it has not, name is the one to ask under.
func (r *Reconciler) asked(ctx context.Context, p *pass, fingerprint string) (name string, asked bool, err error) {
	var rotations v1alpha1.SecretRotationList
	if err := r.client.List(ctx, &rotations, client.InNamespace(p.endpoint.Namespace)); err != nil {
		return "", false, fmt.Errorf("list SecretRotations: %w", err)
	}
	named := map[string]*v1alpha1.SecretRotation{}
	for i := range rotations.Items {
		rotation := &rotations.Items[i]
		named[rotation.Name] = rotation
		if rotation.Spec.EndpointRef.Name != p.endpoint.Name || rotation.Spec.SecretRef != p.endpoint.Spec.Verification.SecretRef {
			continue
		}
		stalled := meta.IsStatusConditionTrue(rotation.Status.Conditions, v1alpha1.ConditionStalled)
		over := rotation.Status.StartTime != nil || rotation.Status.CompletionTime != nil || stalled
		if !over && rotation.DeletionTimestamp.IsZero() {
			return rotation.Name, true, nil
		}
	}
	// A rotation that was over before it changed the keyring, because the bytes came back in between, has taken the name
	// that the same change would have again.
	for attempt := 1; ; attempt++ {
		name = render.RotationName(p.endpoint.Name, p.ring.Revision, fingerprint, attempt)
		taken := named[name]
		if taken == nil {
			return name, false, nil
		}
		if taken.Status.StartTime != nil || taken.Status.CompletionTime == nil {
			return name, true, nil
		}
	}
}
