// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// reasonKeyringVersion is the reason of a keyring that another release wrote.
const reasonKeyringVersion = "KeyringVersion"

// ring is a keyring as it was read, with the Secret that it was read from.
type ring struct {
	*keyring.Keyring
	secret *corev1.Secret
}

// readRing reads the keyring of an endpoint; nil if there is none.
func readRing(
	ctx context.Context, reader client.Reader, kinds *runtime.Scheme, endpoint *v1alpha1.WebhookEndpoint,
) (*ring, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: endpoint.Namespace, Name: render.NamesOf(endpoint.Name).Keyring}
	err := reader.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) || (err == nil && !secret.DeletionTimestamp.IsZero()) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read keyring: %w", err)
	}
	if err := reconcile.Controlled(kinds, endpoint, secret); err != nil {
		return nil, err
	}
	parsed, err := keyring.Parse(secret.Data[keyring.FileName])
	if version := (*keyring.VersionError)(nil); errors.As(err, &version) {
		return nil, reconcile.Terminal(reasonKeyringVersion,
			"Secret %s was written by another release of the operator (%s): run that release or a later one", secret.Name, err)
	}
	if err != nil {
		return nil, reconcile.Terminal(v1alpha1.ReasonKeyringDamaged,
			"Secret %s was changed by hand (%s): restore it, or delete it to have it made anew without former secrets", secret.Name, err)
	}
	return &ring{Keyring: parsed, secret: secret}, nil
}

// writeRing writes a changed keyring. It fails with a conflict if the Secret is not as it was read.
func writeRing(ctx context.Context, writer client.Writer, was *ring, next *keyring.Keyring) error {
	document, err := next.Encode()
	if err != nil {
		return fmt.Errorf("encode keyring: %w", err)
	}
	secret := was.secret.DeepCopy()
	secret.Data = map[string][]byte{keyring.FileName: document}
	if err := writer.Update(ctx, secret, reconcile.FieldOwner); err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	log.FromContext(ctx).Info("Wrote keyring", "secret", secret.Name, "revision", next.Revision,
		"current", keyring.Short(next.Current.Fingerprint), "previous", len(next.Previous))
	return nil
}

// writeKeyring writes what was decided, before anybody is told.
func (r *Reconciler) writeKeyring(ctx context.Context, p *pass) error {
	if p.decision.Keyring == nil {
		return nil
	}
	return writeRing(ctx, r.client, p.keyring, p.decision.Keyring)
}
