// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/scheme"
)

// findings are what a rotation depends on, as the user's rights show it.
type findings struct {
	endpoint *v1alpha1.WebhookEndpoint
	behavior scheme.Behavior
	// candidate is the new secret; nil if it cannot be used, which fault tells, or may not be read.
	candidate *keyring.Candidate
	fault     *reconcile.Fault
	// ring is the keyring; nil if there is none, or it may not be read.
	ring *keyring.Keyring
	// rotations of the endpoint, and one of another endpoint that has the name of the one that is asked for.
	rotations []v1alpha1.SecretRotation
	// unread says what the user may not read.
	unread []string
}

// endpoint reads a WebhookEndpoint. The error ends with the remedy.
func (c *cluster) endpoint(ctx context.Context, name string) (*v1alpha1.WebhookEndpoint, error) {
	found := &v1alpha1.WebhookEndpoint{}
	err := c.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("WebhookEndpoint %s does not exist in namespace %s: correct ENDPOINT or --namespace", name, c.namespace)
	case meta.IsNoMatchError(err):
		return nil, fmt.Errorf("the cluster does not know WebhookEndpoints (%w): install Hookonce there, or name another cluster with "+
			"--context", err)
	case err != nil:
		return nil, fmt.Errorf("read WebhookEndpoint %s: %w: check --context", name, err)
	}
	return found, nil
}

// look reads what the request depends on, and completes the request: its namespace, and its key.
func (c *cluster) look(ctx context.Context, asked *request) (*findings, error) {
	asked.namespace = c.namespace
	endpoint, err := c.endpoint(ctx, asked.endpoint)
	if err != nil {
		return nil, fmt.Errorf("%w, or write the manifest without a cluster with --local", err)
	}
	found := &findings{endpoint: endpoint}
	if asked.secret.Key == "" {
		asked.secret.Key = found.endpoint.Spec.Verification.SecretRef.Key
	}
	for _, read := range []func(context.Context, *request, *findings) error{c.lookAtSecret, c.lookAtKeyring, c.lookAtRotations} {
		if err := read(ctx, asked, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// lookAtSecret reads the new secret, as the endpoint's scheme decodes it.
func (c *cluster) lookAtSecret(ctx context.Context, asked *request, found *findings) error {
	how, err := render.Scheme(&found.endpoint.Spec.Verification)
	if err != nil {
		return fmt.Errorf("WebhookEndpoint %s has no usable verification: %w", asked.endpoint, err)
	}
	found.behavior = how.Behavior
	found.candidate, found.fault, err = reconcile.ReadCandidate(ctx, c, c.namespace, asked.secret, how)
	if apierrors.IsForbidden(err) {
		found.unread = append(found.unread, "Secret "+asked.secret.Name)
		return nil
	}
	return err
}

// lookAtKeyring reads the endpoint's keyring.
func (c *cluster) lookAtKeyring(ctx context.Context, _ *request, found *findings) error {
	ring, err := reconcile.ReadRing(ctx, c, c.Scheme(), found.endpoint)
	if apierrors.IsForbidden(err) {
		found.unread = append(found.unread, "Secret "+render.NamesOf(found.endpoint.Name).Keyring)
		return nil
	}
	if err == nil && ring != nil {
		found.ring = ring.Keyring
	}
	return err
}

// lookAtRotations reads the SecretRotations that matter.
func (c *cluster) lookAtRotations(ctx context.Context, asked *request, found *findings) error {
	var list v1alpha1.SecretRotationList
	err := c.List(ctx, &list, client.InNamespace(c.namespace))
	if apierrors.IsForbidden(err) {
		found.unread = append(found.unread, "the SecretRotations of namespace "+c.namespace)
		return nil
	}
	if err != nil {
		return fmt.Errorf("list SecretRotations: %w", err)
	}
	for i := range list.Items {
		if one := &list.Items[i]; one.Spec.EndpointRef.Name == asked.endpoint || one.Name == asked.rotationName() {
			found.rotations = append(found.rotations, *one)
		}
	}
	return nil
}

// named returns the rotation with the name, or nil.
func (f *findings) named(name string) *v1alpha1.SecretRotation {
	for i := range f.rotations {
		if f.rotations[i].Name == name {
			return &f.rotations[i]
		}
	}
	return nil
}

// byUID returns the rotation with the UID, or nil.
func (f *findings) byUID(uid string) *v1alpha1.SecretRotation {
	for i := range f.rotations {
		if string(f.rotations[i].UID) == uid && uid != "" {
			return &f.rotations[i]
		}
	}
	return nil
}

// standing is what the keyring knows of the new secret; unknown if either may not be read.
func (f *findings) standing() keyring.Standing {
	if f.ring == nil || f.candidate == nil {
		return keyring.IsUnknown
	}
	return f.ring.Standing(*f.candidate)
}

// fingerprint of the new secret, as statuses show it; empty if it cannot be had.
func (f *findings) fingerprint() string {
	if f.ring == nil || f.candidate == nil {
		return ""
	}
	return keyring.Short(f.ring.Fingerprint(f.candidate.Key))
}

// current is the fingerprint of the secret that is current.
func (f *findings) current() string { return keyring.Short(f.ring.Current.Fingerprint) }
