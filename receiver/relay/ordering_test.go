// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// What is ordered does not wait for polls: the outbox is asked when it is offered, and again when what was before it is booked.
func TestTurnsDoNotWaitForPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox := newOutbox()
		var seen attempts
		relay := start(t, Options{
			Outbox: outbox, Destinations: fixed(Destination{Name: "sink", URL: "http://sink.test"}), Poll: time.Hour,
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					return answer(http.StatusOK), nil
				})
			},
		})
		advance(time.Minute)
		last := delivery("sink", 3)
		last.Ordered = true
		for n := range 3 {
			d := delivery("sink", n)
			d.Ordered = true
			outbox.enqueue(d)
		}
		outbox.enqueue(last)
		relay.Offer([]receiver.Delivery{last})
		advance(time.Second)
		if got := seen.count(); got != 4 {
			t.Errorf("%d deliveries were attempted within a second, want all 4", got)
		}
	})
}
