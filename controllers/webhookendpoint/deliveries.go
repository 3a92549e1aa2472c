// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/reconcile"
)

const (
	// countsInterval is how often counts are written that only grow.
	countsInterval = 5 * time.Minute
	// pendingInterval is how often a change of pending is worth a write of its own. A busy outbox empties and fills all the
	// time: what does so between two looks is no news.
	pendingInterval = time.Minute
	// countsAge is how old counts may be and still be taken for what the ledger holds.
	countsAge = 2 * time.Minute
)

// judgeDeliveries says whether deliveries or effects fail, and decides whether the counts are written. Neither ever touches
// Ready: the commit that mends them has to be able to sync.
func (p *pass) judgeDeliveries() {
	seen := p.latestCounts()
	failing, waiting := p.failingEffects(), p.waiting()
	switch {
	case failing != "":
		p.conditions.False(v1alpha1.ConditionDeliveriesHealthy, v1alpha1.ReasonEffectsFailing, "%s", failing)
	case waiting != "":
		p.conditions.False(v1alpha1.ConditionDeliveriesHealthy, v1alpha1.ReasonDestinationSecretUnusable, "%s", waiting)
	case seen == nil && p.endpoint.Status.Deliveries == nil:
		p.conditions.Unknown(v1alpha1.ConditionDeliveriesHealthy, v1alpha1.ReasonStatsUnavailable,
			"No receiver has had counts from the ledger yet")
	case seen == nil:
		p.conditions.Unknown(v1alpha1.ConditionDeliveriesHealthy, v1alpha1.ReasonStatsUnavailable,
			"No receiver has counts from the ledger; the numbers in the status are the last known ones")
	case seen.Failed > 0:
		p.conditions.False(v1alpha1.ConditionDeliveriesHealthy, v1alpha1.ReasonDeliveriesFailing,
			"Deliveries ran out of attempts and wait for a replay: see status.deliveries.lastFailure")
	default:
		p.conditions.True(v1alpha1.ConditionDeliveriesHealthy, v1alpha1.ReasonWithinThreshold, "No delivery has failed")
	}
	if seen == nil {
		return
	}
	before := reconcile.NewConditions(0, p.endpoint.Status.Conditions).Find(v1alpha1.ConditionDeliveriesHealthy)
	now := p.conditions.Find(v1alpha1.ConditionDeliveriesHealthy)
	healthChanged := before == nil || before.Status != now.Status
	if counts := countsOf(seen); worthWriting(p.now, p.endpoint.Status.Deliveries, counts, healthChanged) {
		p.counts = counts
	}
}

// waiting says which destination gets nothing for want of a secret of its own, or nothing.
func (p *pass) waiting() string {
	for _, receiver := range p.receivers.Answered() {
		for _, waiting := range receiver.Status.Destinations {
			for i := range p.endpoint.Spec.Destinations {
				destination := &p.endpoint.Spec.Destinations[i]
				if ref := secretOf(destination, waiting.Field); destination.Name == waiting.Name && ref != nil {
					return fmt.Sprintf("Deliveries to destination %s wait, others go on: its %s names Secret %s, key %q: %s",
						waiting.Name, waiting.Field, ref.Name, ref.Key, waiting.Problem)
				}
			}
		}
	}
	return ""
}

// secretOf returns what a field of a destination names, or nil.
func secretOf(destination *v1alpha1.Destination, field string) *v1alpha1.SecretKeyReference {
	switch {
	case field == receiverstatus.FieldSigning:
		return destination.SigningSecretRef
	case field == receiverstatus.FieldCredentials && destination.NATS != nil:
		return destination.NATS.CredentialsSecretRef
	}
	return nil
}

// latestCounts returns the newest counts that a receiver with a reachable database has, or nil.
func (p *pass) latestCounts() *receiverstatus.Deliveries {
	var latest *receiverstatus.Deliveries
	for _, receiver := range p.receivers.Answered() {
		counts := receiver.Status.Deliveries
		if counts == nil || !receiver.Status.Database.Reachable || p.now.Sub(counts.Observed) > countsAge {
			continue
		}
		if latest == nil || counts.Observed.After(latest.Observed) {
			latest = counts
		}
	}
	return latest
}

// worthWriting says whether counts are written. At once: a count that leaves or reaches zero, or gets another number of
// digits, and a change of health; pending at most once a minute. Else at most every five minutes, and only if a number
// differs.
func worthWriting(now time.Time, last, next *v1alpha1.DeliveriesStatus, healthChanged bool) bool {
	if last == nil {
		return true
	}
	if same(last, next) {
		return false
	}
	var age time.Duration
	if last.ObservedTime != nil {
		age = now.Sub(last.ObservedTime.Time)
	}
	switch {
	case healthChanged, last.ObservedTime == nil, age >= countsInterval:
		return true
	case age >= pendingInterval && scale(last.Pending) != scale(next.Pending):
		return true
	}
	return scale(last.Failed) != scale(next.Failed) ||
		scale(last.Received) != scale(next.Received) ||
		scale(last.Processed) != scale(next.Processed) ||
		scale(last.Duplicates) != scale(next.Duplicates) ||
		scale(last.Rejected) != scale(next.Rejected)
}

// same says whether two statuses show the same numbers.
func same(a, b *v1alpha1.DeliveriesStatus) bool {
	return a.Received == b.Received && a.Processed == b.Processed && a.Duplicates == b.Duplicates &&
		a.Rejected == b.Rejected && a.Pending == b.Pending && a.Failed == b.Failed &&
		a.OldestPendingTime.Equal(b.OldestPendingTime) && sameFailure(a.LastFailure, b.LastFailure)
}

func sameFailure(a, b *v1alpha1.FailureStatus) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Time.Equal(b.Time) && a.Destination == b.Destination && a.EventID == b.EventID && a.Reason == b.Reason
}

// scale is 0 for zero and else the number of decimal digits.
func scale(n int64) int {
	if n <= 0 {
		return 0
	}
	return len(strconv.FormatInt(n, 10))
}

// countsOf returns counts in the form of the status.
func countsOf(seen *receiverstatus.Deliveries) *v1alpha1.DeliveriesStatus {
	counts := &v1alpha1.DeliveriesStatus{
		ObservedTime:      statusTime(seen.Observed),
		Received:          seen.Received,
		Processed:         seen.Processed,
		Duplicates:        seen.Duplicates,
		Rejected:          seen.Rejected,
		Pending:           seen.Pending,
		Failed:            seen.Failed,
		OldestPendingTime: statusTime(seen.OldestPending),
	}
	if failure := seen.LastFailure; failure != nil {
		counts.LastFailure = &v1alpha1.FailureStatus{
			Time:        statusTime(failure.Time),
			Destination: failure.Destination,
			EventID:     failure.EventID,
			Reason:      short(failure.Reason),
		}
	}
	return counts
}

// timeOf returns a time of a status; zero for none.
func timeOf(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

// statusTime returns a time as the API server keeps it, to the second; nil for none.
func statusTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	at := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &at
}
