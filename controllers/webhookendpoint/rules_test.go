// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

var noon = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time {
	at := metav1.NewTime(noon.Add(-d))
	return &at
}

func TestWhenCountsAreWritten(t *testing.T) {
	type status = v1alpha1.DeliveriesStatus
	seen := func(age time.Duration, s status) *status {
		s.ObservedTime = ago(age)
		return &s
	}
	for name, test := range map[string]struct {
		last, next    *status
		healthChanged bool
		want          bool
	}{
		"First":                {nil, &status{}, false, true},
		"NothingNew":           {seen(time.Hour, status{Received: 5}), &status{Received: 5}, false, false},
		"NothingNewButTime":    {seen(time.Hour, status{Received: 5}), seen(0, status{Received: 5}), false, false},
		"FailedAppears":        {seen(time.Second, status{}), &status{Failed: 1}, false, true},
		"FailedGone":           {seen(time.Second, status{Failed: 3}), &status{}, false, true},
		"FailedGrows":          {seen(time.Second, status{Failed: 3}), &status{Failed: 4}, false, false},
		"FailedOtherDecade":    {seen(time.Second, status{Failed: 9}), &status{Failed: 10}, false, true},
		"FailedLowerDecade":    {seen(time.Second, status{Failed: 100}), &status{Failed: 99}, false, true},
		"FirstReceived":        {seen(time.Second, status{}), &status{Received: 1, Processed: 1}, false, true},
		"FirstDuplicate":       {seen(time.Second, status{Received: 1}), &status{Received: 1, Duplicates: 1}, false, true},
		"FirstRejected":        {seen(time.Second, status{}), &status{Rejected: 1}, false, true},
		"ReceivedGrows":        {seen(time.Minute, status{Received: 11}), &status{Received: 98}, false, false},
		"ReceivedGrowsSlowly":  {seen(5*time.Minute, status{Received: 11}), &status{Received: 12}, false, true},
		"ReceivedOtherDecade":  {seen(time.Second, status{Received: 99}), &status{Received: 100}, false, true},
		"PendingFlickers":      {seen(10*time.Second, status{}), &status{Pending: 3}, false, false},
		"PendingStays":         {seen(time.Minute, status{}), &status{Pending: 3}, false, true},
		"PendingGone":          {seen(time.Minute, status{Pending: 3}), &status{}, false, true},
		"PendingMoves":         {seen(time.Minute, status{Pending: 3}), &status{Pending: 4}, false, false},
		"HealthChanges":        {seen(time.Second, status{Received: 5}), &status{Received: 6}, true, true},
		"HealthBackSameCounts": {seen(time.Second, status{Received: 5}), &status{Received: 5}, true, false},
		"LaterFailure": {
			seen(6*time.Minute, status{Failed: 1, LastFailure: &v1alpha1.FailureStatus{EventID: "a"}}),
			&status{Failed: 1, LastFailure: &v1alpha1.FailureStatus{EventID: "b"}}, false, true,
		},
		"NoTimeShown": {&status{Received: 1}, &status{Received: 2}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := worthWriting(noon, test.last, test.next, test.healthChanged); got != test.want {
				t.Errorf("written: %t, want %t", got, test.want)
			}
		})
	}
}

// TestBusyLedgerIsWrittenSeldom lets an hour pass over a ledger whose every number moves at every look.
func TestBusyLedgerIsWrittenSeldom(t *testing.T) {
	var last *v1alpha1.DeliveriesStatus
	writes := 0
	for look := range int64(360) {
		now := noon.Add(time.Duration(look) * 10 * time.Second)
		at := metav1.NewTime(now)
		next := &v1alpha1.DeliveriesStatus{
			ObservedTime: &at, Received: 200_000 + 400*look, Processed: 190_000 + 380*look, Duplicates: 10_000 + 20*look,
			Rejected: 5_000 + look, Pending: 40 + look%20, Failed: 12 + look/100,
		}
		if worthWriting(now, last, next, false) {
			last = next
			writes++
		}
	}
	if writes > 14 {
		t.Errorf("%d writes in an hour, want one in five minutes", writes)
	}
}

func TestTextsFromElsewhereAreCut(t *testing.T) {
	long := ""
	for range 100 {
		long += "fünf "
	}
	if got := short(long); len(got) > 256 {
		t.Errorf("%d bytes, more than the schema allows", len(got))
	}
	if got := short("connection refused"); got != "connection refused" {
		t.Errorf("a short text became %q", got)
	}
}
