// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/scheme"
)

// findings are what the two Secrets that a spec names were found to hold. They are kept between passes, without a byte of
// the Secrets.
type findings struct {
	at         time.Time
	generation int64
	// revision of the keyring that standing was judged by.
	revision int64
	// database and source say why a Secret cannot be used; nil if it can.
	database *reconcile.Fault
	source   *reconcile.Fault
	// standing is what the keyring knows of the source.
	standing keyring.Standing
}

// readSecrets reads the user's Secrets when it is time, and remembers what it found.
func (r *Reconciler) readSecrets(ctx context.Context, p *pass) error {
	if remembered, ok := r.memory.Load(p.key()); ok {
		p.found, _ = remembered.(*findings)
	}
	if p.config == nil || !p.secretsDue(r.options.SecretInterval) {
		return nil
	}
	found := &findings{at: p.now, generation: p.endpoint.Generation}
	_, fault, err := r.readKey(ctx, p, p.endpoint.Spec.Database.SecretRef, "spec.database.secretRef")
	if err != nil {
		return err
	}
	found.database = fault

	ref := p.endpoint.Spec.Verification.SecretRef
	text, fault, err := r.readKey(ctx, p, ref, "spec.verification.secretRef")
	if err != nil {
		return err
	}
	if fault == nil {
		p.candidate, fault = candidate(p.config.Scheme.Key, text, ref)
	}
	found.source = fault
	if p.ring != nil {
		found.revision = p.ring.Revision
	}
	if p.ring != nil && p.candidate != nil {
		found.standing = p.ring.Standing(*p.candidate)
	}
	p.found = found
	r.memory.Store(p.key(), found)
	return nil
}

// secretsDue says whether the user's Secrets must be read in this pass. A Secret that is missing or unusable is looked for
// in each pass, so that a remedy is seen soon.
func (p *pass) secretsDue(interval time.Duration) bool {
	last := p.found
	switch {
	case last == nil, p.ring == nil, last.database != nil, last.source != nil:
		return true
	case last.generation != p.endpoint.Generation, last.revision != p.ring.Revision:
		return true
	case p.now.Sub(last.at) >= interval:
		return true
	}
	return slices.ContainsFunc(p.receivers.Answered(), func(receiver reconcile.Receiver) bool {
		mounted := receiver.Status.Source.Fingerprint
		return mounted != "" && !p.knows(mounted)
	})
}

// knows says whether the keyring has an entry or a tombstone of a fingerprint.
func (p *pass) knows(fingerprint string) bool {
	if _, ok := p.ring.Find(fingerprint); ok {
		return true
	}
	return slices.ContainsFunc(p.ring.Tombstones, func(t keyring.Tombstone) bool { return t.Fingerprint == fingerprint })
}

// readKey reads one key of a user's Secret. The fault names the Secret, the key and the remedy, and never the value.
func (r *Reconciler) readKey(
	ctx context.Context, p *pass, ref v1alpha1.SecretKeyReference, field string,
) ([]byte, *reconcile.Fault, error) {
	secret := &corev1.Secret{}
	err := r.client.Get(ctx, client.ObjectKey{Namespace: p.endpoint.Namespace, Name: ref.Name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, reconcile.Waiting(v1alpha1.ReasonSecretNotFound, 0,
			"Secret %s does not exist: create it with key %q, or correct %s", ref.Name, ref.Key, field), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read Secret %s: %w", ref.Name, err)
	}
	value, ok := secret.Data[ref.Key]
	switch {
	case !ok:
		return nil, reconcile.Waiting(v1alpha1.ReasonSecretKeyMissing, 0,
			"Secret %s has no key %q: add it, or correct %s", ref.Name, ref.Key, field), nil
	case len(bytes.TrimSpace(value)) == 0:
		return nil, reconcile.Terminal(v1alpha1.ReasonSecretEmpty,
			"Secret %s has nothing under key %q: put the value there", ref.Name, ref.Key), nil
	}
	return value, nil, nil
}

// candidate returns the signing secret that a text stands for, or why it cannot be one.
func candidate(key scheme.Key, text []byte, ref v1alpha1.SecretKeyReference) (*keyring.Candidate, *reconcile.Fault) {
	decoded, err := key.Decode(text)
	if err == nil {
		return &keyring.Candidate{
			Key:    decoded,
			Secret: scheme.Trim(text),
			Source: keyring.Source{Name: ref.Name, Key: ref.Key},
		}, nil
	}
	reason := v1alpha1.ReasonSecretInvalid
	var problem *scheme.SecretProblem
	if errors.As(err, &problem) && problem.Reason == scheme.SecretEmpty {
		reason = v1alpha1.ReasonSecretEmpty
	}
	return nil, reconcile.Terminal(reason, "Secret %s, key %q: %s", ref.Name, ref.Key, err)
}

// judgeSecrets says whether the Secrets can be used. A Secret that was in use and is gone changes nothing, since its bytes
// are in the keyring; one whose bytes cannot be a secret is a mistake that somebody must hear of, though receivers go on.
func (p *pass) judgeSecrets() {
	found := p.found
	if found == nil {
		return
	}
	fault := found.database
	gone := found.source != nil && found.source.Class == reconcile.ClassWaiting && p.served()
	if found.source != nil && !gone {
		fault = found.source
	}
	switch {
	case fault != nil:
		p.conditions.False(v1alpha1.ConditionSecretsResolved, fault.Reason, "%s", fault.Message)
		p.report(fault)
	case gone:
		p.conditions.False(v1alpha1.ConditionSecretsResolved, v1alpha1.ReasonServingFromKeyring,
			"%s; receivers go on with the bytes in the keyring", found.source.Message)
	default:
		p.conditions.True(v1alpha1.ConditionSecretsResolved, v1alpha1.ReasonResolved, "Both Secrets can be used")
		p.judgeStanding()
	}
}

// served says whether the keyring has a secret that came from the Secret and key that the spec names.
func (p *pass) served() bool {
	if p.ring == nil {
		return false
	}
	return slices.ContainsFunc(p.ring.Accepted(p.now), func(entry keyring.Entry) bool {
		return entry.Source == sourceOf(p.endpoint)
	})
}

// sourceOf is the Secret and key that the spec names.
func sourceOf(endpoint *v1alpha1.WebhookEndpoint) keyring.Source {
	ref := endpoint.Spec.Verification.SecretRef
	return keyring.Source{Name: ref.Name, Key: ref.Key}
}

// judgeStanding compares the secret that the spec names with the one that is live.
func (p *pass) judgeStanding() {
	if p.ring == nil {
		return
	}
	ref, current := p.endpoint.Spec.Verification.SecretRef, p.ring.Current.Source
	if p.found.standing == keyring.IsRevoked {
		p.report(reconcile.Terminal(v1alpha1.ReasonSecretRevoked,
			"Secret %s, key %q holds a secret that was revoked and stays refused: put a new one there", ref.Name, ref.Key))
	}
	former := p.found.standing == keyring.IsPrevious || p.found.standing == keyring.IsExpired
	if !former || current == sourceOf(p.endpoint) {
		p.conditions.Clear(v1alpha1.ConditionSourceDiverged)
		return
	}
	p.conditions.True(v1alpha1.ConditionSourceDiverged, v1alpha1.ReasonSecretRefNotUpdated,
		"A SecretRotation made another secret current: set spec.verification.secretRef to {name: %s, key: %s}",
		current.Name, current.Key)
}
