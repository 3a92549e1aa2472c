// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/test/story"
)

// currentSecret returns the live secret of an endpoint.
func currentSecret(t *testing.T, endpoint string) string {
	t.Helper()
	secret, err := world.CurrentSecret(t.Context(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// send sends a delivery and returns its first answer.
func send(t *testing.T, d story.Delivery) story.Answer {
	t.Helper()
	answers, err := world.Send(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return answers[0]
}

// expectCount fails the test unless a query selects the number that is wanted.
func expectCount(t *testing.T, want int, query string, args ...any) {
	t.Helper()
	got, err := world.Count(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%s selects %d, want %d", query, got, want)
	}
}

func TestWrongSignatureIsRefusedWithoutARow(t *testing.T) {
	const rows = `SELECT (SELECT count(*) FROM hookonce.claim) + (SELECT count(*) FROM hookonce.event)`
	before, err := world.Count(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	answer := send(t, story.Delivery{
		Endpoint: "payments", EventID: world.Event("forged"), ResourceID: world.Invoice("forged"),
		Secrets: []string{"whsec_test_not_the_secret"},
	})
	if answer.Status != 401 {
		t.Errorf("a forged delivery got %d, want 401", answer.Status)
	}
	expectCount(t, before, rows)
}

func TestUnknownEventTypeIsStoredWithoutEffect(t *testing.T) {
	event, invoice := world.Event("unknown"), world.Invoice("unknown")
	answer := send(t, story.Delivery{
		Endpoint: "payments", EventID: event, EventType: "coffee.brewed", ResourceID: invoice,
		Secrets: []string{currentSecret(t, "payments")},
	})
	if answer.Status != 200 {
		t.Errorf("an unknown event type got %d, want 200", answer.Status)
	}
	expectCount(t, 1, `SELECT count(*) FROM hookonce.event WHERE event_id = $1`, event)
	expectCount(t, 0, `SELECT count(*) FROM shop.orders WHERE invoice_id = $1`, invoice)
}

func TestFailingFunctionKeepsNothing(t *testing.T) {
	secret := currentSecret(t, "payments")
	event, invoice := world.Event("failing"), world.Invoice("failing")
	delivery := story.Delivery{Endpoint: "payments", EventID: event, ResourceID: invoice, Secrets: []string{secret}}
	constraint := `ALTER TABLE shop.orders ADD CONSTRAINT no_failing CHECK (invoice_id NOT LIKE '%failing')`
	const lift = `ALTER TABLE shop.orders DROP CONSTRAINT IF EXISTS no_failing`
	if _, err := world.DB.Exec(t.Context(), constraint); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := world.DB.Exec(context.Background(), lift); err != nil {
			t.Error(err)
		}
	})
	answer := send(t, delivery)
	if answer.Status != 503 || answer.RetryAfter == "" {
		t.Errorf("a failing function got %d with Retry-After %q, want 503 with one", answer.Status, answer.RetryAfter)
	}
	expectCount(t, 0, `SELECT count(*) FROM hookonce.event WHERE event_id = $1`, event)
	expectCount(t, 0, `SELECT count(*) FROM shop.orders WHERE invoice_id = $1`, invoice)
	if _, err := world.DB.Exec(t.Context(), lift); err != nil {
		t.Fatal(err)
	}
	if answer := send(t, delivery); answer.Status != 200 {
		t.Errorf("the redelivery after the repair got %d, want 200", answer.Status)
	}
	expectCount(t, 1, `SELECT count(*) FROM shop.orders WHERE invoice_id = $1`, invoice)
}

func TestUnreachableDatabase(t *testing.T) {
	ctx := t.Context()
	secret := currentSecret(t, "payments")
	before, err := world.Restarts(ctx, "payments")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.StartDatabase(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := world.StopDatabase(ctx); err != nil {
		t.Fatal(err)
	}
	delivery := story.Delivery{
		Endpoint: "payments", EventID: world.Event("nodb"), ResourceID: world.Invoice("nodb"), Secrets: []string{secret},
	}
	answer := send(t, delivery)
	if answer.Status != 503 || answer.RetryAfter == "" {
		t.Errorf("without a database: %d with Retry-After %q, want 503 with one", answer.Status, answer.RetryAfter)
	}
	unreachable := func(endpoint *v1alpha1.WebhookEndpoint) error {
		return story.Condition(endpoint.Status.Conditions, v1alpha1.ConditionDatabaseReachable, metav1.ConditionFalse, "")
	}
	if err := world.WaitEndpoint(ctx, "payments", 2*time.Minute, unreachable); err != nil {
		t.Error(err)
	}
	if err := world.StartDatabase(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := world.SendUntilAccepted(ctx, time.Minute, delivery); err != nil {
		t.Error(err)
	}
	if err := world.WaitEndpoint(ctx, "payments", 2*time.Minute, story.Ready); err != nil {
		t.Error(err)
	}
	after, err := world.Restarts(ctx, "payments")
	if err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Errorf("receivers were restarted while the database was away: before %s, after %s", before, after)
	}
}

// endpointManifest is a small endpoint on the shop's database.
func endpointManifest(name, secret string) string {
	return `apiVersion: webhooks.hookonce.dev/v1alpha1
kind: WebhookEndpoint
metadata: {name: ` + name + `, namespace: shop}
spec:
  verification:
    scheme: Paymos
    secretRef: {name: ` + secret + `, key: secret}
    overlap: 30s
  database:
    secretRef: {name: shop-db, key: uri}
  receiver: {replicas: 1}
`
}

// secretManifest is a Secret with a signing secret.
func secretManifest(name, value string) string {
	return `apiVersion: v1
kind: Secret
metadata: {name: ` + name + `, namespace: shop}
stringData: {secret: "` + value + `"}
`
}

func apply(t *testing.T, manifest string) {
	t.Helper()
	if _, err := world.Apply(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
}

func waitEndpoint(t *testing.T, name string, check func(*v1alpha1.WebhookEndpoint) error) {
	t.Helper()
	if err := world.WaitEndpoint(t.Context(), name, 3*time.Minute, check); err != nil {
		t.Fatalf("endpoint %s: %v", name, err)
	}
}

// notReady says that an endpoint is not Ready for a reason, and that the message names the Secret and its key.
func notReady(reason, secret string) func(*v1alpha1.WebhookEndpoint) error {
	return func(endpoint *v1alpha1.WebhookEndpoint) error {
		conditions := endpoint.Status.Conditions
		if err := story.Condition(conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, ""); err != nil {
			return err
		}
		return story.ConditionMentions(conditions, v1alpha1.ConditionSecretsResolved, reason, secret, `"secret"`)
	}
}

func TestMissingAndEmptySecret(t *testing.T) {
	apply(t, endpointManifest("lonely", "lonely-webhook"))
	waitEndpoint(t, "lonely", notReady(v1alpha1.ReasonSecretNotFound, "lonely-webhook"))
	apply(t, secretManifest("lonely-webhook", ""))
	waitEndpoint(t, "lonely", notReady(v1alpha1.ReasonSecretEmpty, "lonely-webhook"))
	apply(t, secretManifest("lonely-webhook", "whsec_test_lonely_at_last"))
	waitEndpoint(t, "lonely", story.Ready)
	if _, err := world.Kubectl(t.Context(), "delete", "whe", "lonely", "-n", story.Namespace); err != nil {
		t.Error(err)
	}
}

func TestInvalidManifestIsRefusedWithTheRemedy(t *testing.T) {
	for name, test := range map[string]struct{ replace, with, want string }{
		"UnknownScheme":   {"scheme: Paymos", "scheme: Unknown", `"HMAC"`},
		"HMACUndescribed": {"scheme: Paymos", "scheme: HMAC", "set verification.hmac when"},
		"LongOverlap":     {"overlap: 30s", "overlap: 200h", "168h"},
		"NotADuration":    {"overlap: 30s", "overlap: soon", "overlap"},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := strings.Replace(endpointManifest("invalid", "none"), test.replace, test.with, 1)
			_, err := world.Apply(t.Context(), manifest)
			if err == nil {
				t.Fatal("the manifest was accepted")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the refusal does not say %q: %v", test.want, err)
			}
		})
	}
}
