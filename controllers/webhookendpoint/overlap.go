// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// judgeOverlap shows which secrets are accepted, until when, and when each was last used.
func (p *pass) judgeOverlap() {
	if p.ring == nil {
		return
	}
	before := map[string]time.Time{}
	if current := p.status.CurrentSecret; current != nil {
		before[current.Fingerprint] = timeOf(current.LastUsedTime)
	}
	for _, previous := range p.status.PreviousSecrets {
		before[previous.Fingerprint] = timeOf(previous.LastUsedTime)
	}
	receivers := p.receivers.Observed()
	show := func(entry keyring.Entry) v1alpha1.SecretStatus {
		shown := v1alpha1.SecretStatus{
			Fingerprint: keyring.Short(entry.Fingerprint),
			Source:      &v1alpha1.SecretKeyReference{Name: entry.Source.Name, Key: entry.Source.Key},
		}
		if !entry.NotAfter.IsZero() {
			shown.NotAfter = entry.NotAfter.UTC().Format(time.RFC3339)
		}
		shown.LastUsedTime = statusTime(rotation.LastUse(p.now, before[shown.Fingerprint], entry.Fingerprint, receivers))
		return shown
	}

	var end time.Time
	p.status.PreviousSecrets = nil
	for i, entry := range p.ring.Accepted(p.now) {
		shown := show(entry)
		if i == 0 {
			p.status.CurrentSecret = &shown
			continue
		}
		p.status.PreviousSecrets = append(p.status.PreviousSecrets, shown)
		if entry.NotAfter.After(end) {
			end = entry.NotAfter
		}
	}
	if end.IsZero() {
		p.status.OverlapEndTime = ""
		p.conditions.False(v1alpha1.ConditionOverlapActive, v1alpha1.ReasonSingleSecret, "Only the current secret is accepted")
		return
	}
	p.status.OverlapEndTime = end.UTC().Format(time.RFC3339)
	p.conditions.True(v1alpha1.ConditionOverlapActive, v1alpha1.ReasonDualSecrets, "A former secret is accepted beside the current one")
}
