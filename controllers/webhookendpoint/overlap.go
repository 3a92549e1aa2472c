// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
)

// readOldUse finds what the rotations say of former secrets that the provider still signs with.
func (r *Reconciler) readOldUse(ctx context.Context, p *pass) error {
	if p.ring == nil {
		return nil
	}
	former := p.ring.Accepted(p.now)[1:]
	if len(former) == 0 {
		return nil
	}
	var rotations v1alpha1.SecretRotationList
	if err := r.client.List(ctx, &rotations, client.InNamespace(p.endpoint.Namespace)); err != nil {
		return fmt.Errorf("list SecretRotations: %w", err)
	}
	for _, entry := range former {
		i := slices.IndexFunc(rotations.Items, func(one v1alpha1.SecretRotation) bool { return string(one.UID) == entry.ReplacedBy })
		if i < 0 {
			continue
		}
		inUse := meta.FindStatusCondition(rotations.Items[i].Status.Conditions, v1alpha1.ConditionOldSecretStillInUse)
		if inUse != nil {
			p.oldUse = append(p.oldUse, fmt.Sprintf("SecretRotation %s: %s", rotations.Items[i].Name, inUse.Message))
		}
	}
	return nil
}

// judgeOverlap shows which secrets are accepted, until when, how often each was used and when last.
func (p *pass) judgeOverlap() {
	if p.ring == nil {
		return
	}
	accepted := p.ring.Accepted(p.now)
	uses := p.judgeUses(accepted)

	var end time.Time
	p.status.PreviousSecrets = nil
	for i, entry := range accepted {
		shown := secretStatus(entry, uses)
		if i == 0 {
			p.status.CurrentSecret = &shown
			continue
		}
		p.status.PreviousSecrets = append(p.status.PreviousSecrets, shown)
		if entry.NotAfter.After(end) {
			end = entry.NotAfter
		}
	}
	if len(p.oldUse) > 0 {
		p.conditions.True(v1alpha1.ConditionOldSecretStillInUse, v1alpha1.ConditionOldSecretStillInUse, "%s", strings.Join(p.oldUse, "; "))
	} else {
		p.conditions.Clear(v1alpha1.ConditionOldSecretStillInUse)
	}
	if end.IsZero() {
		p.status.OverlapEndTime = ""
		p.conditions.False(v1alpha1.ConditionOverlapActive, v1alpha1.ReasonSingleSecret, "Only the current secret is accepted")
		return
	}
	p.status.OverlapEndTime = end.UTC().Format(time.RFC3339)
	p.conditions.True(v1alpha1.ConditionOverlapActive, v1alpha1.ReasonDualSecrets, "A former secret is accepted beside the current one")
}

// secretStatus shows one secret of the keyring. uses are by short fingerprint.
func secretStatus(entry keyring.Entry, uses map[string]v1alpha1.SecretStatus) v1alpha1.SecretStatus {
	fingerprint := keyring.Short(entry.Fingerprint)
	shown := v1alpha1.SecretStatus{
		Fingerprint:  fingerprint,
		Source:       &v1alpha1.SecretKeyReference{Name: entry.Source.Name, Key: entry.Source.Key},
		Uses:         uses[fingerprint].Uses,
		LastUsedTime: uses[fingerprint].LastUsedTime,
	}
	if !entry.NotAfter.IsZero() {
		shown.NotAfter = entry.NotAfter.UTC().Format(time.RFC3339)
	}
	return shown
}

// warnOfUse records an event when a former secret is first found in use near its end.
func (r *Reconciler) warnOfUse(p *pass) {
	inUse := p.conditions.Find(v1alpha1.ConditionOldSecretStillInUse)
	if inUse == nil || meta.FindStatusCondition(p.endpoint.Status.Conditions, v1alpha1.ConditionOldSecretStillInUse) != nil {
		return
	}
	r.recorder.Eventf(p.endpoint, nil, corev1.EventTypeWarning, inUse.Reason, "Reconcile", "%s", inUse.Message)
}
