// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
)

// usePrecision is how exactly the last use of a secret is shown while it goes on: a write a minute would say no more.
const usePrecision = 5 * time.Minute

// judgeOverlap shows which secrets are accepted, until when, and when each was last used.
func (p *pass) judgeOverlap() {
	if p.ring == nil {
		return
	}
	before := map[string]*metav1.Time{}
	if current := p.status.CurrentSecret; current != nil {
		before[current.Fingerprint] = current.LastUsedTime
	}
	for _, previous := range p.status.PreviousSecrets {
		before[previous.Fingerprint] = previous.LastUsedTime
	}
	show := func(entry keyring.Entry) v1alpha1.SecretStatus {
		shown := v1alpha1.SecretStatus{
			Fingerprint: keyring.Short(entry.Fingerprint),
			Source:      &v1alpha1.SecretKeyReference{Name: entry.Source.Name, Key: entry.Source.Key},
		}
		if !entry.NotAfter.IsZero() {
			shown.NotAfter = entry.NotAfter.UTC().Format(time.RFC3339)
		}
		_, used := p.receivers.Uses(entry.Fingerprint)
		shown.LastUsedTime = lastUse(p.now, before[shown.Fingerprint], used)
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

// lastUse returns when a secret was last used, to the minute. It never goes back, for a restarted receiver has forgotten;
// and while a secret is in use it moves in steps of usePrecision.
func lastUse(now time.Time, shown *metav1.Time, used time.Time) *metav1.Time {
	if used.IsZero() {
		return shown
	}
	minute := metav1.NewTime(used.UTC().Truncate(time.Minute))
	if shown == nil {
		return &minute
	}
	ahead := minute.Sub(shown.Time)
	idle := now.Sub(used) >= usePrecision
	if ahead >= usePrecision || (ahead > 0 && idle) {
		return &minute
	}
	return shown
}
