// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
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
	// lead is what made the current secret current, if the source holds a former one.
	lead lead
}

// former says that the source holds a secret that was current before.
func (f *findings) former() bool {
	return f.standing == keyring.IsPrevious || f.standing == keyring.IsExpired
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
	_, fault, err := reconcile.ReadKey(ctx, r.client, p.endpoint.Namespace, p.endpoint.Spec.Database.SecretRef)
	if err != nil {
		return err
	}
	found.database = orCorrect("spec.database.secretRef", fault)

	p.candidate, fault, err = reconcile.ReadCandidate(
		ctx, r.client, p.endpoint.Namespace, p.endpoint.Spec.Verification.SecretRef, p.config.Scheme)
	if err != nil {
		return err
	}
	found.source = orCorrect("spec.verification.secretRef", fault)
	if p.ring != nil {
		found.revision = p.ring.Revision
	}
	if p.ring != nil && p.candidate != nil {
		found.standing = p.ring.Standing(*p.candidate)
	}
	if found.former() {
		if found.lead, err = r.readLead(ctx, p); err != nil {
			return err
		}
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

// orCorrect adds to a fault of a missing Secret that it may be the spec that is wrong.
func orCorrect(field string, fault *reconcile.Fault) *reconcile.Fault {
	if fault != nil && fault.Class == reconcile.ClassWaiting {
		fault.Message += ", or correct " + field
	}
	return fault
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

// withoutSource is a clause for Ready while the signing Secret that was in use is not there, and nothing else.
func (p *pass) withoutSource() string {
	resolved := p.conditions.Find(v1alpha1.ConditionSecretsResolved)
	if resolved == nil || resolved.Reason != v1alpha1.ReasonServingFromKeyring {
		return ""
	}
	ref := p.endpoint.Spec.Verification.SecretRef
	if p.found != nil && p.found.source != nil && p.found.source.Reason == v1alpha1.ReasonSecretKeyMissing {
		return fmt.Sprintf("; the signing Secret %s has no key %q: serving from the keyring", ref.Name, ref.Key)
	}
	return fmt.Sprintf("; the signing Secret %s is gone: serving from the keyring", ref.Name)
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
	if p.found.standing == keyring.IsRevoked {
		p.report(reconcile.Terminal(v1alpha1.ReasonSecretRevoked, "%s", p.revoked()))
	}
	if !p.ahead() {
		p.conditions.Clear(v1alpha1.ConditionSourceDiverged)
		return
	}
	reason := v1alpha1.ReasonSecretRefNotUpdated
	if p.reverted() {
		reason = v1alpha1.ReasonSecretRefReverted
	}
	p.conditions.True(v1alpha1.ConditionSourceDiverged, reason, "%s", p.diverged())
}
