// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/receiver/verify"
)

// Three receivers that have the same keyring say the same of a thousand deliveries in an overlap, by whichever secret they
// are signed: nothing depends on the pod that a Service picks.
func TestReceiversSayTheSame(t *testing.T) {
	ring, err := keyring.Adopt(zeros{}, candidate("first-signing-secret"), now.Add(-48*time.Hour))
	must(t, err)
	for i, name := range []string{"second-signing-secret", "third-signing-secret", "fourth-signing-secret"} {
		ring, _, err = ring.Promote(candidate(name), now.Add(-time.Hour), now.Add([]time.Duration{-time.Minute, time.Hour, 2 * time.Hour}[i]))
		must(t, err)
	}
	ring, err = ring.Revoke(ring.Previous[0].Fingerprint, now)
	must(t, err)
	pods := make([]*Store, 3)
	for i := range pods {
		p := newPod(t)
		p.mount(t, ring)
		p.source.write(t, SourceFile, []byte([]string{"first-signing-secret", "third-signing-secret", "fourth-signing-secret"}[i]))
		pods[i] = p.open(nil)
	}
	want := map[string]bool{
		"first-signing-secret": false, "second-signing-secret": true, "third-signing-secret": false, "fourth-signing-secret": true,
		"unknown-signing-secret": false,
	}
	config := configuration(t, "Paymos", "/webhooks/payments")
	posts := 0
	for range 200 {
		for secret, accepted := range want {
			posts++
			body := fmt.Sprintf(`{"event_id":"evt-%d","event_type":"invoice.paid","data":{"id":"1"}}`, posts)
			draft := verify.Draft{Body: []byte(body)}
			request, err := verify.SignRequest(config.Scheme, [][]byte{[]byte(secret)}, draft, now)
			must(t, err)
			for i, pod := range pods {
				_, err := verify.Verify(config.Scheme, pod.Current().Secrets, request, now, time.Duration(config.Tolerance))
				if (err == nil) != accepted {
					t.Fatalf("receiver %d says %v of a delivery signed with the %s, want accepted: %t", i, err, secret, accepted)
				}
			}
		}
	}
	if posts != 1000 {
		t.Errorf("%d deliveries", posts)
	}
}
