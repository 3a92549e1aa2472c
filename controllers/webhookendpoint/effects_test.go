// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// warnings takes the events that were recorded so far, and returns how many were warnings for a reason.
func (b *bench) warnings(reason string) int {
	n := 0
	for {
		select {
		case event := <-b.recorder.Events:
			if strings.HasPrefix(event, "Warning "+reason+" ") {
				n++
			}
		default:
			return n
		}
	}
}

// failing is an effect as a receiver reports it.
func failing(name, function, code string, failures int64) receiverstatus.Effect {
	return receiverstatus.Effect{Name: name, Function: function, Code: code, Failures: failures}
}

func TestEffectsThatFailAreSaid(t *testing.T) {
	b, receivers := serving(t)
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() {
		for _, name := range []string{"book", "mail"} {
			endpoint.Spec.Effects = append(endpoint.Spec.Effects, v1alpha1.Effect{
				Name: name, Function: "shop.nope", EventTypes: []v1alpha1.EventTypePattern{"*"},
			})
		}
	})
	b.settle("payments")
	b.load("payments", receivers)
	report := func(effects ...receiverstatus.Effect) {
		receivers[1].set(func(status *receiverstatus.Status) { status.Effects = effects })
		b.settle("payments")
	}
	said := func(status metav1.ConditionStatus, reason string, warnings int, texts ...string) {
		t.Helper()
		endpoint := b.endpoint("payments")
		expect(t, endpoint, v1alpha1.ConditionDeliveriesHealthy, status, reason, texts...)
		expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
		if got := b.warnings(v1alpha1.ReasonEffectsFailing); got != warnings {
			t.Errorf("%d warnings, want %d", got, warnings)
		}
	}
	receivers.each(func(status *receiverstatus.Status) { status.Deliveries = counts(b.clock.now(), 10, 0, 3) })

	report(failing("book", "shop.nope", "42883", 3))
	const want = `Effect "book": function shop.nope fails with SQLSTATE 42883 (undefined function); ` +
		"its events are answered with 503 and the provider retries them"
	said(metav1.ConditionFalse, v1alpha1.ReasonEffectsFailing, 1, want)
	if got := b.endpoint("payments").Status.Deliveries; got == nil || got.Failed != 3 {
		t.Errorf("the counts are %+v", got)
	}
	before := b.endpoint("payments").ResourceVersion
	report(failing("book", "shop.nope", "42883", 300))
	said(metav1.ConditionFalse, v1alpha1.ReasonEffectsFailing, 0, want)
	if b.endpoint("payments").ResourceVersion != before {
		t.Error("more failures of the same kind were a write")
	}
	report(failing("mail", "shop.nope", "XX000", 1), failing("book", "shop.nope", "23505", 1))
	said(metav1.ConditionFalse, v1alpha1.ReasonEffectsFailing, 1,
		`"book": function shop.nope fails with SQLSTATE 23505 (constraint violation); "mail": function shop.nope fails with SQLSTATE XX000;`)
	report(failing("book", "shop.corrected", "42883", 1))
	said(metav1.ConditionFalse, v1alpha1.ReasonDeliveriesFailing, 0)
	report()
	said(metav1.ConditionFalse, v1alpha1.ReasonDeliveriesFailing, 0)
}
