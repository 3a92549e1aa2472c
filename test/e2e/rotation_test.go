// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/test/story"
)

// provider sends deliveries one after the other, signed with the secret that it has at the moment.
type provider struct {
	secret atomic.Pointer[string]
	// sent and refused count the answers; last is the first refusal.
	sent, refused int
	last          story.Answer
}

// run sends until ctx is done.
func (p *provider) run(ctx context.Context, endpoint, url string) error {
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("%s-%d", endpoint, n)
		answers, err := world.SendTo(ctx, url, story.Delivery{
			Endpoint: endpoint, EventID: world.Event(name), ResourceID: world.Invoice(name), Secrets: []string{*p.secret.Load()},
		})
		switch {
		case ctx.Err() != nil:
			// What was under way at the end says nothing.
			continue
		case err != nil:
			return err
		}
		p.sent++
		if answers[0].Status != 200 {
			p.refused++
			p.last = answers[0]
		}
	}
	return nil
}

// TestChangedBytesRotate changes the bytes of the Secret that the endpoint names under a provider that never stops: it
// signs with the old secret until the new one is everywhere, and with the new one from then on. No delivery is refused and
// no pod restarts; after the overlap the old secret is refused, and gone from the keyring.
func TestChangedBytesRotate(t *testing.T) {
	t.Parallel()
	const name = "bytes"
	before, after := "whsec_test_bytes_before", "whsec_test_bytes_after_it"
	apply(t, secretManifest("bytes-webhook", before))
	apply(t, endpointManifest(name, "bytes-webhook"))
	waitEndpoint(t, name, story.Ready)
	pods, err := world.Restarts(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	url, err := world.URL(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	sender := &provider{}
	sender.secret.Store(&before)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- sender.run(ctx, name, url) }()

	apply(t, secretManifest("bytes-webhook", after))
	if err := waitPropagated(t, name); err != nil {
		t.Fatal(err)
	}
	sender.secret.Store(&after)
	waitEndpoint(t, name, overlapShown)
	waitEndpoint(t, name, overlapOver)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if sender.refused > 0 || sender.sent < 20 {
		t.Errorf("%d of %d deliveries were refused, the last with %+v", sender.refused, sender.sent, sender.last)
	}
	t.Logf("%d deliveries through the rotation, %d refused", sender.sent, sender.refused)
	late := send(t, story.Delivery{
		Endpoint: name, EventID: world.Event("bytes-late"), ResourceID: world.Invoice("bytes-late"), Secrets: []string{before},
	})
	if late.Status != 401 {
		t.Errorf("after the overlap the old secret got %d, want 401", late.Status)
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

// waitPropagated waits for the rotation that the operator makes for an endpoint, until every receiver has its secret.
func waitPropagated(t *testing.T, endpoint string) error {
	t.Helper()
	return story.Eventually(t.Context(), 3*time.Minute, time.Second, func(ctx context.Context) error {
		rotation, err := world.RotationOf(ctx, endpoint)
		if err != nil {
			return err
		}
		return story.Condition(rotation.Status.Conditions, v1alpha1.ConditionPropagated, metav1.ConditionTrue, "")
	})
}

// overlapShown says that the status tells of a former secret and until when it is accepted, and that this is healthy.
func overlapShown(endpoint *v1alpha1.WebhookEndpoint) error {
	if len(endpoint.Status.PreviousSecrets) != 1 || endpoint.Status.OverlapEndTime == "" {
		return errors.New("no former secret is shown")
	}
	if err := story.Condition(endpoint.Status.Conditions, v1alpha1.ConditionOverlapActive, metav1.ConditionTrue, ""); err != nil {
		return err
	}
	return story.Ready(endpoint)
}

// overlapOver says that no former secret is left.
func overlapOver(endpoint *v1alpha1.WebhookEndpoint) error {
	if len(endpoint.Status.PreviousSecrets) > 0 || endpoint.Status.OverlapEndTime != "" {
		return errors.New("a former secret is left")
	}
	return story.Condition(endpoint.Status.Conditions, v1alpha1.ConditionOverlapActive, metav1.ConditionFalse, "")
}
