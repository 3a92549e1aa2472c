// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/render"
)

// Ring is a keyring as it was read, with the Secret that it was read from.
type Ring struct {
	*keyring.Keyring
	Secret *corev1.Secret
}

// ReadRing reads the keyring of an endpoint; nil if there is none, or it is being deleted. One that is not the endpoint's,
// that is damaged, or that another release wrote, is a terminal Fault: whoever made a new one instead would forget the
// former secrets.
func ReadRing(
	ctx context.Context, reader client.Reader, kinds *runtime.Scheme, endpoint *v1alpha1.WebhookEndpoint,
) (*Ring, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: endpoint.Namespace, Name: render.NamesOf(endpoint.Name).Keyring}
	err := reader.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) || (err == nil && !secret.DeletionTimestamp.IsZero()) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the keyring: %w", err)
	}
	if err := Controlled(kinds, endpoint, secret); err != nil {
		return nil, err
	}
	parsed, err := keyring.Parse(secret.Data[keyring.FileName])
	if _, ok := errors.AsType[*keyring.VersionError](err); ok {
		return nil, Terminal(v1alpha1.ReasonKeyringVersion,
			"Secret %s was written by another release of the operator (%s): run that release or a later one", secret.Name, err)
	}
	if err != nil {
		return nil, Terminal(v1alpha1.ReasonKeyringDamaged,
			"Secret %s was changed by hand (%s): restore it, or delete it to have it made anew without former secrets", secret.Name, err)
	}
	return &Ring{Keyring: parsed, Secret: secret}, nil
}
