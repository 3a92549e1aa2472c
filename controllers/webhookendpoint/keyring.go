// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// readKeyring reads the keyring, if there is one. One that cannot be used stops the acting: a new one would forget former
// secrets.
func (r *Reconciler) readKeyring(ctx context.Context, p *pass) error {
	ring, err := reconcile.ReadRing(ctx, r.client, r.client.Scheme(), p.endpoint)
	switch fault := reconcile.Classify(err); {
	case fault == nil:
		if ring != nil {
			p.ring = ring.Keyring
		}
	case fault.Class == reconcile.ClassRetry:
		return err
	default:
		p.stop(fault)
	}
	return nil
}

// adopt makes the first keyring of the secret that the spec names. The Secret itself is neither written nor owned.
func (r *Reconciler) adopt(ctx context.Context, p *pass) error {
	if p.ring != nil {
		return nil
	}
	if fault := p.found.source; fault != nil {
		// Without a secret there is nothing to verify with, and so no receivers.
		return fault
	}
	ring, err := keyring.Adopt(rand.Reader, *p.candidate, p.now)
	if err != nil {
		return fmt.Errorf("make the keyring: %w", err)
	}
	document, err := ring.Encode()
	if err != nil {
		return fmt.Errorf("encode the keyring: %w", err)
	}
	secret := render.KeyringSecret(p.endpoint, document)
	if err := controllerutil.SetControllerReference(p.endpoint, secret, r.client.Scheme()); err != nil {
		return fmt.Errorf("own the keyring: %w", err)
	}
	err = r.client.Create(ctx, secret, reconcile.FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return reconcile.Waiting(v1alpha1.ReasonProgressing, 0,
			"Secret %s is being deleted: the keyring is made anew when it is gone", secret.Name)
	}
	if err != nil {
		return fmt.Errorf("create the keyring: %w", err)
	}
	fingerprint := keyring.Short(ring.Current.Fingerprint)
	log.FromContext(ctx).Info("Adopted the signing secret", "fingerprint", fingerprint)
	if before := p.endpoint.Status.CurrentSecret; before != nil {
		r.recorder.Eventf(p.endpoint, nil, corev1.EventTypeWarning, v1alpha1.ReasonKeyringLost, "Adopt",
			"The keyring was gone and has been made anew of the current secret alone: former secrets are no longer accepted")
	}
	p.ring = ring
	p.found.standing, p.found.revision = keyring.IsCurrent, ring.Revision
	return nil
}
