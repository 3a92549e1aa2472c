// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

func TestMissingSigningSecretIsSaid(t *testing.T) {
	b, receivers := serving(t)
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() {
		endpoint.Spec.Destinations = []v1alpha1.Destination{{
			Name: "crm", URL: "http://crm.shop.svc/hooks", EventTypes: []v1alpha1.EventTypePattern{"*"},
			SigningSecretRef: &v1alpha1.SecretKeyReference{Name: "crm-signing", Key: "secret"},
		}}
	})
	b.settle("payments")
	b.rollOut("payments")
	b.load("payments", receivers)
	receivers.each(func(status *receiverstatus.Status) { status.Deliveries = counts(b.clock.now(), 10, 0, 0) })
	receivers[1].set(func(status *receiverstatus.Status) {
		status.Destinations = []receiverstatus.Destination{
			{Name: "gone", Field: receiverstatus.FieldSigning, Problem: "?"}, {Name: "crm", Field: receiverstatus.FieldSigning, Problem: "the Secret or its key is missing"},
		}
	})
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionDeliveriesHealthy, metav1.ConditionFalse, v1alpha1.ReasonDestinationSecretUnusable,
		`Deliveries to destination crm wait, others go on: its signingSecretRef names Secret crm-signing, key "secret": the Secret or its key is missing`)
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	receivers[1].set(func(status *receiverstatus.Status) { status.Destinations = nil })
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionDeliveriesHealthy, metav1.ConditionTrue, v1alpha1.ReasonWithinThreshold)
}
