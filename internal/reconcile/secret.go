// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/scheme"
)

// ReadKey reads one key of a user's Secret. A fault says why there is no value, with the Secret, the key and the remedy and
// never a value: one to wait for if the Secret or the key is missing, a terminal one if nothing is under it. The error is
// about the reading.
func ReadKey(
	ctx context.Context, reader client.Reader, namespace string, ref v1alpha1.SecretKeyReference,
) ([]byte, *Fault, error) {
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, Waiting(v1alpha1.ReasonSecretNotFound, 0,
			"Secret %s does not exist: create it with key %q", ref.Name, ref.Key), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read Secret %s: %w", ref.Name, err)
	}
	value, ok := secret.Data[ref.Key]
	switch {
	case !ok:
		return nil, Waiting(v1alpha1.ReasonSecretKeyMissing, 0, "Secret %s has no key %q: add it", ref.Name, ref.Key), nil
	case len(bytes.TrimSpace(value)) == 0:
		return nil, Terminal(v1alpha1.ReasonSecretEmpty,
			"Secret %s, key %q: nothing is there; put the value there", ref.Name, ref.Key), nil
	}
	return value, nil, nil
}

// ReadCandidate reads a signing secret from one key of a user's Secret and decodes it as a scheme asks. Beside the faults of
// ReadKey there is a terminal one for a value that cannot be a secret; its reason is that of the scheme.SecretProblem.
func ReadCandidate(
	ctx context.Context, reader client.Reader, namespace string, ref v1alpha1.SecretKeyReference, how scheme.Scheme,
) (*keyring.Candidate, *Fault, error) {
	text, fault, err := ReadKey(ctx, reader, namespace, ref)
	if fault != nil || err != nil {
		return nil, fault, err
	}
	key, err := how.DecodeSecret(text)
	if problem, ok := errors.AsType[*scheme.SecretProblem](err); ok {
		return nil, Terminal(problem.Reason, "Secret %s, key %q: %s", ref.Name, ref.Key, problem.Message), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("decode Secret %s: %w", ref.Name, err)
	}
	return &keyring.Candidate{
		Key:    key,
		Secret: scheme.Trim(text),
		Source: keyring.Source{Name: ref.Name, Key: ref.Key},
	}, nil, nil
}
