// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/rotation"
)

// defaultOverlap is what a spec without an overlap asks for.
const defaultOverlap = 24 * time.Hour

// observeSpec reads the spec and what the status recorded.
func (r *Reconciler) observeSpec(_ context.Context, p *pass) error {
	spec := &p.object.Spec
	p.spec = rotation.Spec{
		UID:       string(p.object.UID),
		Name:      p.object.Name,
		Created:   p.object.CreationTimestamp.Time,
		Endpoint:  spec.EndpointRef.Name,
		Source:    keyring.Source{Name: spec.SecretRef.Name, Key: spec.SecretRef.Key},
		Overlap:   defaultOverlap,
		Immediate: spec.Revocation == v1alpha1.RevocationImmediate,
		Retire:    rotation.Retire(spec.Retire),
		Intervals: r.intervals,
	}
	if spec.PreviousNotAfter != nil {
		p.spec.PreviousNotAfter = spec.PreviousNotAfter.Time
	}
	if spec.Overlap != "" {
		overlap, err := spec.Overlap.Parse()
		if err != nil {
			return reconcile.Terminal(v1alpha1.ReasonInvalidSpec, "The spec cannot be used: spec.overlap: %s", err)
		}
		p.spec.Overlap = overlap
	}
	if spec.MaxOverlap != "" {
		longest, err := spec.MaxOverlap.Parse()
		if err != nil {
			return reconcile.Terminal(v1alpha1.ReasonInvalidSpec, "The spec cannot be used: spec.maxOverlap: %s", err)
		}
		p.spec.MaxOverlap = longest
	}
	p.seen.Recorded = recordedIn(&p.object.Status)
	return nil
}

// observeEndpoint reads the endpoint.
func (r *Reconciler) observeEndpoint(ctx context.Context, p *pass) error {
	endpoint := &v1alpha1.WebhookEndpoint{}
	key := client.ObjectKey{Namespace: p.object.Namespace, Name: p.object.Spec.EndpointRef.Name}
	err := r.client.Get(ctx, key, endpoint)
	if apierrors.IsNotFound(err) || (err == nil && !endpoint.DeletionTimestamp.IsZero()) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read WebhookEndpoint %s: %w", key.Name, err)
	}
	p.endpoint = endpoint
	p.seen.EndpointFound = true
	p.seen.EndpointSuspended = endpoint.Spec.Suspend
	return nil
}

// observeKeyring reads the keyring.
func (r *Reconciler) observeKeyring(ctx context.Context, p *pass) error {
	if p.endpoint == nil || rotation.Settled(p.spec, p.seen.Recorded) {
		return nil
	}
	found, err := reconcile.ReadRing(ctx, r.live, r.client.Scheme(), p.endpoint)
	if err != nil {
		return err
	}
	if found != nil {
		p.keyring, p.seen.Keyring = found, found.Keyring
	}
	return nil
}

// observeSecret reads the new secret, as long as it is needed: once it is in the keyring, the Secret may go.
func (r *Reconciler) observeSecret(ctx context.Context, p *pass) error {
	if p.seen.Keyring == nil || rotation.Started(p.seen.Keyring, p.spec.UID) {
		return nil
	}
	described, err := render.Scheme(&p.endpoint.Spec.Verification)
	if err != nil {
		return reconcile.Waiting(v1alpha1.ReasonInvalidSpec, r.intervals.Secret,
			"WebhookEndpoint %s has no usable verification: %s", p.endpoint.Name, err)
	}
	p.spec.MinOverlap, p.spec.MinOverlapReason = described.Behavior.LeastOverlap()
	candidate, fault, err := reconcile.ReadCandidate(ctx, r.live, p.object.Namespace, p.object.Spec.SecretRef, described)
	if err != nil {
		return err
	}
	p.seen.Secret = secretOf(candidate, fault)
	return nil
}

// secretOf is what reading the new secret came to, as Plan wants it.
func secretOf(candidate *keyring.Candidate, fault *reconcile.Fault) rotation.Secret {
	switch {
	case fault == nil:
		return rotation.Secret{Usability: rotation.Usable, Key: candidate.Key, Text: candidate.Secret}
	case fault.Class == reconcile.ClassWaiting:
		return rotation.Secret{Usability: rotation.Missing, Reason: fault.Reason, Problem: fault.Message}
	default:
		return rotation.Secret{Usability: rotation.Unusable, Reason: fault.Reason, Problem: fault.Message}
	}
}

// observeSiblings reads the other rotations of the endpoint.
func (r *Reconciler) observeSiblings(ctx context.Context, p *pass) error {
	if p.seen.Keyring == nil || rotation.Started(p.seen.Keyring, p.spec.UID) {
		return nil
	}
	list := &v1alpha1.SecretRotationList{}
	err := r.client.List(ctx, list, client.InNamespace(p.object.Namespace), client.MatchingFields{endpointField: p.spec.Endpoint})
	if err != nil {
		return fmt.Errorf("list SecretRotations of %s: %w", p.spec.Endpoint, err)
	}
	for i := range list.Items {
		sibling := &list.Items[i]
		if sibling.UID == p.object.UID || !sibling.DeletionTimestamp.IsZero() {
			continue
		}
		p.seen.Siblings = append(p.seen.Siblings, siblingOf(sibling))
	}
	return nil
}

// observeReceivers asks the receivers, if it matters what they have loaded.
func (r *Reconciler) observeReceivers(ctx context.Context, p *pass) error {
	if p.seen.Keyring == nil || (!rotation.Started(p.seen.Keyring, p.spec.UID) && p.seen.Secret.Usability != rotation.Usable) {
		return nil
	}
	_, receivers, err := r.poller.Poll(ctx, p.object.Namespace, render.ReceiverSelector(p.endpoint.Name))
	p.seen.Receivers = receivers.Observed()
	return err
}

// owned says whether the operator made the rotation, because the bytes of the endpoint's Secret had changed.
func owned(object *v1alpha1.SecretRotation) bool {
	controller := metav1.GetControllerOf(object)
	return controller != nil && controller.Kind == "WebhookEndpoint" &&
		controller.APIVersion == v1alpha1.GroupVersion.String()
}
