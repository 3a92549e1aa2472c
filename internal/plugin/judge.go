// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
)

// judge says what is wrong with a request in the cluster that was looked at, and notes what people should know. applying
// says that the rotation starts at once: what may still be committed together with a manifest has to be there then. A
// revocation whose secret is current already becomes a change of the rotation that brought it.
func judge(asked *request, found *findings, applying bool, now time.Time) (notes []string, err error) {
	for _, what := range found.unread {
		notes = append(notes, fmt.Sprintf("Not checked: you may not read %s, so it is not known whether the secret can be used.", what))
	}
	if fault := found.fault; fault != nil {
		if applying || fault.Class == reconcile.ClassTerminal {
			return nil, fmt.Errorf("--secret: %w", fault)
		}
		notes = append(notes, fault.Message+". The rotation waits for it: commit both together.")
	}
	if found.candidate != nil && strings.Contains(asked.reason, string(found.candidate.Secret)) {
		return nil, usagef("--reason contains the secret itself, and everybody can read it there: leave it out")
	}
	if err := judgeStanding(asked, found); err != nil {
		return nil, err
	}
	existing := found.named(asked.rotationName())
	if err := judgeExisting(asked, existing, found); err != nil {
		return nil, err
	}
	if err := judgeOverlap(asked, found, existing); err != nil {
		return nil, err
	}
	return append(notes, circumstances(asked, found, now)...), nil
}

// judgeStanding refuses a secret that cannot become current, or is.
func judgeStanding(asked *request, found *findings) error {
	holds := fmt.Sprintf("--secret: Secret %s, key %q holds", asked.secret.Name, asked.secret.Key)
	const another = "put the new secret there, or name another Secret"
	switch found.standing() {
	case keyring.IsRevoked:
		return fmt.Errorf("%s a secret that was revoked and stays refused: %s", holds, another)
	case keyring.IsPrevious:
		if asked.revoke {
			return fmt.Errorf("%s a former secret, and --secret names the new one: %s; or, if the current one has leaked and this one "+
				"has not, make it current first with rotate, and then revoke", holds, another)
		}
	case keyring.IsCurrent:
		brought := found.byUID(found.ring.Current.Rotation)
		switch {
		case asked.revoke:
			return asked.revokeFormer(found, brought, holds)
		case brought == nil || brought.Name != asked.rotationName():
			return fmt.Errorf("%s the same bytes as the current secret (fingerprint %s), so nothing would rotate: %s",
				holds, found.fingerprint(), another)
		}
	case keyring.IsUnknown, keyring.IsExpired:
	}
	if former := found.standing() == keyring.IsPrevious || found.standing() == keyring.IsExpired; former &&
		slices.Contains(found.ring.NamesOf(*found.candidate), asked.rotationName()) {
		return fmt.Errorf("--name: a SecretRotation %s has made this secret current before, and is not followed a second time: "+
			"choose another name with --name", asked.rotationName())
	}
	return nil
}

// revokeFormer finds who revokes the secret that the current one has replaced. It is the rotation that brought the current
// one, if a person wrote it; one that the operator made, or that is gone, is in nobody's repository, and a new one takes over
// from it.
func (r *request) revokeFormer(found *findings, brought *v1alpha1.SecretRotation, holds string) error {
	uid := found.ring.Current.Rotation
	_, kept := found.ring.ReplacedBy(uid)
	tombstone, buried := found.ring.RetiredBy(uid)
	if uid == "" || (!kept && !buried) {
		return fmt.Errorf("%s the current secret, and no former one is known, so there is nothing to revoke. --secret names the new "+
			"secret: if the current one has leaked, put a new one into another Secret", holds)
	}
	expired := buried && tombstone.Reason == keyring.Expired
	switch {
	case expired && (r.name == "" || (brought != nil && r.name == brought.Name)):
		return fmt.Errorf("%s the current secret, and the one before it has been refused since %s, so there is nothing to revoke. "+
			"To keep it from ever becoming current again, choose a name for another SecretRotation with --name",
			holds, tombstone.Time.UTC().Format(time.RFC3339))
	case !expired && brought != nil && metav1.GetControllerOf(brought) == nil:
		r.name, r.secret = brought.Name, brought.Spec.SecretRef
	}
	return nil
}

// keep takes over what a rotation that is there says, where it is not what the API fills in.
func (r *request) keep(spec *v1alpha1.SecretRotationSpec) {
	if spec.Overlap != "24h" {
		r.overlap = spec.Overlap
	}
	if spec.Retire != v1alpha1.RetireAtDeadline {
		r.retire = spec.Retire
	}
	if spec.MaxOverlap != "168h" {
		r.maxOverlap = spec.MaxOverlap
	}
	r.previousNotAfter = spec.PreviousNotAfter
}

// judgeExisting compares the request with a SecretRotation of its name.
func judgeExisting(asked *request, existing *v1alpha1.SecretRotation, found *findings) error {
	if existing == nil {
		return nil
	}
	spec := existing.Spec
	if spec.EndpointRef.Name != asked.endpoint || spec.SecretRef != asked.secret {
		return fmt.Errorf("--name: SecretRotation %s is there already, for WebhookEndpoint %s and Secret %s, key %q: "+
			"choose another name with --name", existing.Name, spec.EndpointRef.Name, spec.SecretRef.Name, spec.SecretRef.Key)
	}
	ours := found.ring != nil && found.ring.Current.Rotation == string(existing.UID)
	if existing.Status.CompletionTime != nil && !ours && found.ring != nil {
		return fmt.Errorf("--name: SecretRotation %s is there already and is over (%s), so it would do nothing: "+
			"choose another name with --name", existing.Name, stateOf(existing))
	}
	if asked.revoke {
		asked.keep(&spec)
	} else if spec.Revocation == v1alpha1.RevocationImmediate {
		return fmt.Errorf("--name: SecretRotation %s is there already with revocation: Immediate, which cannot be taken back: "+
			"choose another name with --name", existing.Name)
	}
	return nil
}

// judgeOverlap refuses an overlap in which the provider still signs with the former secret. One that has begun may be
// shortened: that ends it.
func judgeOverlap(asked *request, found *findings, existing *v1alpha1.SecretRotation) error {
	if asked.revoke || (existing != nil && existing.Status.StartTime != nil) {
		return nil
	}
	overlap, err := asked.overlap.Parse()
	if err != nil {
		return fmt.Errorf("--overlap: %w", err)
	}
	least, why := found.behavior.LeastOverlap()
	if overlap >= least {
		return nil
	}
	text := strings.TrimSuffix(strings.TrimSuffix(least.String(), "0s"), "0m")
	return fmt.Errorf("--overlap %s is too short for scheme %s: %s; write --overlap %s or more, or, if the former secret has leaked, "+
		"use revoke", asked.overlap, found.endpoint.Spec.Verification.Scheme, why, text)
}

// circumstances are worth knowing, and no reason to refuse.
func circumstances(asked *request, found *findings, now time.Time) []string {
	var notes []string
	if found.endpoint.Spec.Suspend {
		notes = append(notes, fmt.Sprintf("WebhookEndpoint %s is suspended: the rotation waits until spec.suspend is false.", asked.endpoint))
	}
	if existing := found.named(asked.rotationName()); existing != nil {
		notes = append(notes, fmt.Sprintf("SecretRotation %s is there already: %s.", existing.Name, stateOf(existing)))
	} else if found.endpoint.Spec.Verification.SecretRef == asked.secret {
		notes = append(notes, fmt.Sprintf("WebhookEndpoint %s names this Secret already: the operator rotates by itself when its bytes change, "+
			"and this manifest only counts if it is applied before they do.", asked.endpoint))
	}
	if found.ring == nil {
		return notes
	}
	switch found.standing() {
	case keyring.IsPrevious:
		notes = append(notes, "The secret was current before and is still accepted: it becomes current again.")
	case keyring.IsExpired:
		notes = append(notes, "The secret was current before and is refused now: it becomes current again.")
	case keyring.IsUnknown, keyring.IsCurrent, keyring.IsRevoked:
	}
	if asked.revoke {
		notes = append(notes, stillAccepted(found, now)...)
	}
	return notes
}

// stillAccepted names former secrets that a revocation leaves accepted: each rotation can revoke only what it replaced.
func stillAccepted(found *findings, now time.Time) []string {
	var notes []string
	already := found.standing() == keyring.IsCurrent
	for _, former := range found.ring.Accepted(now)[1:] {
		if already && former.ReplacedBy == found.ring.Current.Rotation {
			continue
		}
		by := found.byUID(former.ReplacedBy)
		note := fmt.Sprintf("Another former secret, fingerprint %s, stays accepted until %s.",
			keyring.Short(former.Fingerprint), former.NotAfter.UTC().Format(time.RFC3339))
		if by != nil {
			note += fmt.Sprintf(" To revoke it too, set spec.revocation: Immediate in SecretRotation %s.", by.Name)
		}
		notes = append(notes, note)
	}
	return notes
}

// stateOf is how far a rotation is, in a word.
func stateOf(rotation *v1alpha1.SecretRotation) string {
	if ready := meta.FindStatusCondition(rotation.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		return ready.Reason
	}
	return "Pending"
}
