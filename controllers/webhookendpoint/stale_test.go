// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"context"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/controllers/webhookendpoint"
	"github.com/hookonce/hookonce/internal/keyring"
)

// behind is a cache that shows an endpoint as it was.
type behind struct {
	client.Client
	endpoint *v1alpha1.WebhookEndpoint
}

func (b behind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if endpoint, ok := object.(*v1alpha1.WebhookEndpoint); ok && key == client.ObjectKeyFromObject(b.endpoint) {
		b.endpoint.DeepCopyInto(endpoint)
		return nil
	}
	return b.Client.Get(ctx, key, object, options...)
}

// An operator that starts with an old list of endpoints sees the former secretRef, and the current secret as one that is ahead
// of it by the operator's own doing: it does not rotate back.
func TestAnOldSpecRotatesNothing(t *testing.T) {
	b, receivers := serving(t)
	old := b.endpoint("payments")
	b.create(secret("signing-q4", "secret", nextText))
	b.refer("signing-q4")
	owned := b.rotations()
	if len(owned) != 1 {
		t.Fatalf("%d rotations after the change of the reference, want 1", len(owned))
	}
	ring, _, err := b.ring("payments").Promote(keyring.Candidate{
		Key: []byte(nextText), Secret: []byte(nextText), Source: keyring.Source{Name: "signing-q4", Key: "secret"},
		Rotation: string(owned[0].UID), Name: owned[0].Name,
	}, b.clock.now(), b.clock.now().Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	b.put("payments", ring)
	b.load("payments", receivers)
	restarted := webhookendpoint.New(behind{b.cached, old}, b.admin, b.recorder, b.clock.now, webhookendpoint.Options{
		Render: settings, StatusInterval: 10 * time.Second, SecretInterval: 30 * time.Second, Concurrency: 1,
	})
	for range 3 {
		// What is written by an old spec meets a conflict, which is tried again.
		_, _ = restarted.Reconcile(t.Context(), ctrl.Request{NamespacedName: b.key("payments")})
	}
	if got := b.rotations(); len(got) != 1 {
		t.Errorf("%d rotations after passes over the old spec, want 1", len(got))
	}
}
