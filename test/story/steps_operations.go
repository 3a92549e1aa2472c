// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// propagation bounds how long a changed Secret may take to every receiver: the kubelet's own period and some.
const propagation = 3 * time.Minute

func rotate(ctx context.Context, w *World) error {
	old, err := w.CurrentSecret(ctx, "payments")
	if err != nil {
		return err
	}
	restarts, err := w.Restarts(ctx, "payments")
	if err != nil {
		return err
	}
	name, secret := "payments-"+w.run, "whsec_test_rotated_"+w.run
	if err := w.ApplyRotation(ctx, "payments", name, secret, "24h"); err != nil {
		return err
	}
	if _, err := w.Kubectl(ctx, "wait", "secretrotation/"+name, "-n", Namespace,
		"--for=condition=Propagated", "--timeout="+propagation.String()); err != nil {
		return err
	}
	for _, signed := range []struct {
		with    string
		secrets []string
	}{
		{"the old secret", []string{old}},
		{"the new secret", []string{secret}},
		{"both in one header", []string{secret, old}},
	} {
		event := w.Event(fmt.Sprintf("rotation%d%.3s", len(signed.secrets), signed.secrets[0][len(signed.secrets[0])-3:]))
		answers, err := w.Send(ctx, Delivery{
			Endpoint: "payments", EventID: event, EventType: "invoice.confirming", ResourceID: w.Invoice("rotation"),
			Secrets: signed.secrets,
		})
		if err != nil {
			return err
		}
		if err := allAccepted(answers, 1); err != nil {
			return fmt.Errorf("signed with %s: %w", signed.with, err)
		}
		w.Say("  signed with %s: 200", signed.with)
	}
	after, err := w.Restarts(ctx, "payments")
	if err != nil {
		return err
	}
	if after != restarts {
		return fmt.Errorf("the rotation changed the receivers: before %s, after %s", restarts, after)
	}
	w.Say("  no receiver was restarted or replaced")
	return w.show(ctx, "get", "srot", "-o", "wide", "-n", Namespace)
}

// Restarts describes the receiver pods of an endpoint and how often their containers were restarted.
func (w *World) Restarts(ctx context.Context, endpoint string) (string, error) {
	pods, err := w.receivers(ctx, endpoint)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, pod := range pods {
		for _, container := range pod.Status.ContainerStatuses {
			fmt.Fprintf(&text, "%s:%d ", pod.Name, container.RestartCount)
		}
	}
	return text.String(), nil
}

func outage(ctx context.Context, w *World) error {
	secret, err := w.CurrentSecret(ctx, "payments")
	if err != nil {
		return err
	}
	if err := w.StopSink(ctx); err != nil {
		return err
	}
	event := w.Event("outage")
	if _, err := w.SendUntilAccepted(ctx, 30*time.Second, Delivery{
		Endpoint: "payments", EventID: event, ResourceID: w.Invoice("outage"), Secrets: []string{secret},
	}); err != nil {
		return err
	}
	if err := w.waitFailed(ctx, 1); err != nil {
		return err
	}
	if err := w.show(ctx, "get", "whe", "-n", Namespace); err != nil {
		return err
	}
	var key string
	const failed = `SELECT coalesce(idempotency_key, id::text) FROM hookonce.failed_delivery WHERE event_id = $1`
	if err := w.DB.QueryRow(ctx, failed, event).Scan(&key); err != nil {
		return fmt.Errorf("read the failed delivery of %s: %w", event, err)
	}
	if err := w.StartSink(ctx); err != nil {
		return err
	}
	if err := w.replay(ctx, "payments", strings.ReplaceAll(event, "_", "-")); err != nil {
		return err
	}
	call, err := w.expectReplayed(ctx, event)
	if err != nil {
		return err
	}
	if call.Key != key {
		return fmt.Errorf("the replay's Idempotency-Key is %s, the failed attempts' was %s", call.Key, key)
	}
	if err := w.waitFailed(ctx, 0); err != nil {
		return err
	}
	if err := w.show(ctx, "get", "whe", "-n", Namespace); err != nil {
		return err
	}
	return w.lookBack(ctx, "payments", event)
}

// expectReplayed waits until the sink has been called for an event, and asserts that it was called once.
func (w *World) expectReplayed(ctx context.Context, event string) (Call, error) {
	err := Eventually(ctx, 30*time.Second, 100*time.Millisecond, func(context.Context) error {
		calls, err := w.calls(event)
		if err == nil && len(calls) == 0 {
			err = errors.New("the sink has not been called")
		}
		return err
	})
	if err != nil {
		return Call{}, err
	}
	return w.expectOneCall(ctx, event)
}

func (w *World) waitFailed(ctx context.Context, want int64) error {
	return w.WaitEndpoint(ctx, "payments", 90*time.Second, func(endpoint *v1alpha1.WebhookEndpoint) error {
		if endpoint.Status.Deliveries == nil {
			return errors.New("the status has no counts")
		}
		if endpoint.Status.Deliveries.Failed != want {
			return fmt.Errorf("FAILED is %d instead of %d", endpoint.Status.Deliveries.Failed, want)
		}
		return nil
	})
}

func retention(ctx context.Context, w *World) error {
	old, young := w.Event("once"), w.Event("concurrent")
	if err := w.age(ctx, old, 31*24*time.Hour); err != nil {
		return err
	}
	before, err := w.Count(ctx, `SELECT count(*) FROM hookonce.claim`)
	if err != nil {
		return err
	}
	w.Say("  one event was made to look 31 days old: its claim and its payload are past their age, %d other claims are not", before-1)
	job := "payments-prune-" + w.run
	if _, err := w.Kubectl(ctx, "create", "job", job, "--from=cronjob/payments-prune", "-n", Namespace); err != nil {
		return err
	}
	if _, err := w.Kubectl(ctx, "wait", "job/"+job, "-n", Namespace, "--for=condition=Complete", "--timeout=120s"); err != nil {
		return err
	}
	const past = `SELECT count(*) FROM hookonce.claim WHERE received_at < now() - interval '30 days'`
	if err := w.expect(ctx, 0, "claims past their age", past); err != nil {
		return err
	}
	if err := w.expect(ctx, before-1, "other claims, all kept", `SELECT count(*) FROM hookonce.claim`); err != nil {
		return err
	}
	if err := w.expect(ctx, 0, "payloads past their age", `SELECT count(*) FROM hookonce.event WHERE event_id = $1`, old); err != nil {
		return err
	}
	return w.expect(ctx, 1, "payloads of a younger event, kept", `SELECT count(*) FROM hookonce.event WHERE event_id = $1`, young)
}

// age makes an event look as if it had been received so much earlier, in the partition of that day.
func (w *World) age(ctx context.Context, event string, by time.Duration) error {
	var received time.Time
	if err := w.DB.QueryRow(ctx, `SELECT received_at FROM hookonce.event WHERE event_id = $1`, event).Scan(&received); err != nil {
		return fmt.Errorf("age %s: %w", event, err)
	}
	day := received.UTC().Add(-by).Truncate(24 * time.Hour)
	partition := fmt.Sprintf(`CREATE TABLE IF NOT EXISTS hookonce.event_%s PARTITION OF hookonce.event FOR VALUES FROM ('%s') TO ('%s')`,
		day.Format("20060102"), day.Format(time.RFC3339), day.Add(24*time.Hour).Format(time.RFC3339))
	if _, err := w.DB.Exec(ctx, asRole(ledgerOwner, partition)); err != nil {
		return fmt.Errorf("make the partition of %s: %w", day.Format(time.DateOnly), err)
	}
	for _, statement := range []string{
		`UPDATE hookonce.claim SET received_at = received_at - $2::interval WHERE event = (SELECT id FROM hookonce.event WHERE event_id = $1)`,
		`UPDATE hookonce.event SET received_at = received_at - $2::interval WHERE event_id = $1`,
	} {
		if _, err := w.DB.Exec(ctx, statement, event, by); err != nil {
			return fmt.Errorf("age %s: %w", event, err)
		}
	}
	return nil
}

// Memory says how much memory the operator and an idle receiver keep resident.
func (w *World) Memory(ctx context.Context) error {
	pods, err := w.receivers(ctx, "payments-eu")
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		return errors.New("payments-eu has no receiver")
	}
	for _, process := range []struct {
		what, argument string
		goal           float64
	}{
		{"receiver", publicArgument(pods[0]), 40},
		{"operator", "--leader-elect", 80},
	} {
		found, err := processesWith(process.argument)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			w.Say("  %s: not on this machine", process.what)
			continue
		}
		size, err := residentMiB(found[0])
		if err != nil {
			return err
		}
		w.Say("  %s: %.1f MiB resident (goal: at most %.0f)", process.what, size, process.goal)
	}
	return nil
}
