// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/test/story"
)

// TestChangedBytesRotate changes the bytes of the Secret that the endpoint names: both secrets are accepted for the
// overlap, no pod restarts, and afterwards the old one is refused and gone from the keyring.
func TestChangedBytesRotate(t *testing.T) {
	const name, before, after = "bytes", "whsec_test_bytes_before", "whsec_test_bytes_after_it"
	apply(t, secretManifest("bytes-webhook", before))
	apply(t, endpointManifest(name, "bytes-webhook"))
	waitEndpoint(t, name, story.Ready)
	pods, err := world.Restarts(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	status := func(event, secret string) int {
		return send(t, story.Delivery{
			Endpoint: name, EventID: world.Event(event), ResourceID: world.Invoice(event), Secrets: []string{secret},
		}).Status
	}

	apply(t, secretManifest("bytes-webhook", after))
	waitEndpoint(t, name, func(endpoint *v1alpha1.WebhookEndpoint) error {
		// Whatever is accepted must stay accepted on the way: the old secret until the overlap ends.
		if endpoint.Status.OverlapEndTime == "" {
			return errors.New("no overlap has begun")
		}
		return story.Condition(endpoint.Status.Conditions, v1alpha1.ConditionOverlapActive, metav1.ConditionTrue, "")
	})
	if got := status("bytes-old", before); got != 200 {
		t.Errorf("inside the overlap the old secret got %d, want 200", got)
	}
	err = story.Eventually(t.Context(), 3*time.Minute, time.Second, func(context.Context) error {
		if got := status("bytes-new", after); got != 200 {
			return fmt.Errorf("the new secret got %d, want 200", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	waitEndpoint(t, name, func(endpoint *v1alpha1.WebhookEndpoint) error {
		if n := len(endpoint.Status.PreviousSecrets); n > 0 {
			return fmt.Errorf("%d former secrets are left", n)
		}
		return story.Condition(endpoint.Status.Conditions, v1alpha1.ConditionOverlapActive, metav1.ConditionFalse, "")
	})
	if got := status("bytes-late", before); got != 401 {
		t.Errorf("after the overlap the old secret got %d, want 401", got)
	}
	now, err := world.Restarts(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if pods != now {
		t.Errorf("the rotation changed the receivers: before %s, after %s", pods, now)
	}
	if _, err := world.Kubectl(t.Context(), "delete", "whe", name, "-n", story.Namespace); err != nil {
		t.Error(err)
	}
}

// TestSecondApplyWritesNothing applies the shop again and compares the versions of everything that the operator owns.
func TestSecondApplyWritesNothing(t *testing.T) {
	waitEndpoint(t, "payments", story.Ready)
	kinds := "webhookendpoints,secretrotations,configmaps,deployments,services,poddisruptionbudgets,networkpolicies,cronjobs"
	versions := func() string {
		t.Helper()
		out, err := world.Kubectl(t.Context(), "get", kinds, "-n", story.Namespace, "-o",
			`jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation} {.metadata.resourceVersion}{"\n"}{end}`)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var before string
	// Counts of what earlier tests sent may still be on their way into the status.
	err := story.Eventually(t.Context(), 8*time.Minute, 45*time.Second, func(context.Context) error {
		last := before
		before = versions()
		if last != before {
			return errors.New("the shop has not settled")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := world.ApplyShop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := versions(); after != before {
		t.Errorf("a second apply wrote something:\nbefore\n%s\nafter\n%s", before, after)
	}
}
