// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
)

// usesInterval is how often the use of secrets is written while it goes on.
const usesInterval = 5 * time.Minute

// tally adds up how often each secret of one endpoint has verified a delivery. Receivers count since they started, and
// during a rotation they are replaced, so a sum of what they say would go back to zero when people look at it.
type tally struct {
	// total by short fingerprint.
	total map[string]int64
	// counted is what each pod said last, by short fingerprint; nil for one that was there before this tally, and has not said
	// how much of its count is in the status already.
	counted map[string]map[string]int64
}

// read takes in what the receivers say. shown are the uses in the status, by short fingerprint: a tally that is new goes on
// from there, and takes what receivers have counted by then as known.
func (t *tally) read(receivers reconcile.Receivers, shown map[string]int64) {
	fresh := t.counted == nil
	if fresh {
		t.total, t.counted = map[string]int64{}, map[string]map[string]int64{}
	}
	pods := make(map[string]bool, len(receivers))
	for _, receiver := range receivers {
		pods[receiver.Pod] = true
		if receiver.Err == nil {
			t.add(receiver, fresh)
		} else if fresh {
			t.counted[receiver.Pod] = nil
		}
	}
	for pod := range t.counted {
		if !pods[pod] {
			delete(t.counted, pod)
		}
	}
	for fingerprint, n := range shown {
		t.total[fingerprint] = max(t.total[fingerprint], n)
	}
}

// add takes in what one receiver has counted since it was last asked.
func (t *tally) add(receiver reconcile.Receiver, fresh bool) {
	last, asked := t.counted[receiver.Pod]
	known := asked && last == nil
	counted := make(map[string]int64, len(receiver.Status.Secrets))
	for _, secret := range receiver.Status.Secrets {
		n, fingerprint := secret.Uses, keyring.Short(secret.Fingerprint)
		counted[fingerprint] = n
		switch before := last[fingerprint]; {
		case known:
			n = 0
		case before <= n && !fresh:
			n -= before
		}
		t.total[fingerprint] += n
	}
	t.counted[receiver.Pod] = counted
}

// countUses takes in what the receivers say of the use of secrets.
func (r *Reconciler) countUses(p *pass) {
	shown := map[string]int64{}
	for fingerprint, secret := range shownSecrets(&p.endpoint.Status) {
		shown[fingerprint] = secret.Uses
	}
	remembered, _ := r.uses.LoadOrStore(p.key(), &tally{})
	if counts, ok := remembered.(*tally); ok {
		counts.read(p.receivers, shown)
		p.uses = counts.total
	}
}

// shownSecrets are the secrets in a status, by their fingerprints.
func shownSecrets(status *v1alpha1.WebhookEndpointStatus) map[string]v1alpha1.SecretStatus {
	shown := map[string]v1alpha1.SecretStatus{}
	for _, secret := range status.PreviousSecrets {
		shown[secret.Fingerprint] = secret
	}
	if current := status.CurrentSecret; current != nil {
		shown[current.Fingerprint] = *current
	}
	return shown
}

// judgeUses puts the use of the secrets into the status: each secret's first use at once, anything later for all of them
// together and at most every five minutes, for a write with each delivery would say no more.
func (p *pass) judgeUses(accepted []keyring.Entry) map[string]v1alpha1.SecretStatus {
	shown := shownSecrets(&p.endpoint.Status)
	seen := make(map[string]v1alpha1.SecretStatus, len(accepted))
	first, differs := false, false
	for _, entry := range accepted {
		fingerprint := keyring.Short(entry.Fingerprint)
		before := shown[fingerprint]
		// The time never goes back: receivers that were restarted have forgotten.
		now := v1alpha1.SecretStatus{Uses: before.Uses, LastUsedTime: before.LastUsedTime}
		if used := lastUse(p.receivers, entry.Fingerprint); used.After(timeOf(before.LastUsedTime)) {
			now.LastUsedTime = statusTime(used)
		}
		now.Uses = max(before.Uses, p.uses[fingerprint])
		seen[fingerprint] = now
		first = first || (before.LastUsedTime == nil && now.LastUsedTime != nil)
		differs = differs || before.Uses != now.Uses || !before.LastUsedTime.Equal(now.LastUsedTime)
	}
	observed := p.endpoint.Status.UsesObservedTime
	if !first && (!differs || (observed != nil && p.now.Sub(observed.Time) < usesInterval)) {
		return shown
	}
	p.status.UsesObservedTime = statusTime(p.now)
	return seen
}

// lastUse is the last use of a secret that receivers know of, to the second; zero for none.
func lastUse(receivers reconcile.Receivers, fingerprint string) time.Time {
	var used time.Time
	for _, receiver := range receivers {
		for _, secret := range receiver.Status.Secrets {
			if secret.Fingerprint == fingerprint && secret.LastUsed.After(used) {
				used = secret.LastUsed
			}
		}
	}
	return used.UTC().Truncate(time.Second)
}
