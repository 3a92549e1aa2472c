// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Step is one part of the story: it plays and asserts.
type Step struct {
	// Name of the step in tests.
	Name string
	// Title says what it shows.
	Title string
	// Play returns an error unless everything that the title says is true.
	Play func(context.Context, *World) error
}

// Steps is the story, in the order in which it is told.
func Steps() []Step {
	return []Step{
		{"Once", "one invoice.paid sent twice: one order, one call at the sink, byte-identical answers", once},
		{"Concurrent", "twenty copies at once of another: one effect, twenty identical answers", concurrent},
		{"Crash", "the receiver killed between claim and commit, and the event sent again: one effect", crash},
		{"ResourceAndType", "the same payment by a second endpoint with another event id: booked once", secondEndpoint},
		{"Rotation", "a rotation: the old secret, the new one and both in one header are accepted", rotate},
		{"Outage", "the sink down until the ladder runs out: FAILED 1; replayed when it is up: FAILED 0", outage},
		{"Retention", "the prune job removes what is past its age and nothing else", retention},
	}
}

const (
	ordersOf = `SELECT count(*) FROM shop.orders WHERE invoice_id = $1`
	claimsOf = `SELECT count(*) FROM hookonce.claim c JOIN hookonce.event e ON e.id = c.event WHERE e.event_id = $1`
)

func once(ctx context.Context, w *World) error {
	secret, err := w.CurrentSecret(ctx, "payments")
	if err != nil {
		return err
	}
	event, invoice := w.Event("once"), w.Invoice("once")
	answers, err := w.Send(ctx, Delivery{
		Endpoint: "payments", EventID: event, ResourceID: invoice, Secrets: []string{secret}, Repeat: 2,
	})
	if err != nil {
		return err
	}
	if err := allAccepted(answers, 2); err != nil {
		return err
	}
	w.Say("  answers: 200 and 200, both with body %s", answers[0].Digest)
	if err := w.expect(ctx, 1, "orders booked", ordersOf, invoice); err != nil {
		return err
	}
	_, err = w.expectOneCall(ctx, event)
	return err
}

func concurrent(ctx context.Context, w *World) error {
	secret, err := w.CurrentSecret(ctx, "payments")
	if err != nil {
		return err
	}
	event, invoice := w.Event("concurrent"), w.Invoice("concurrent")
	answers, err := w.Send(ctx, Delivery{
		Endpoint: "payments", EventID: event, ResourceID: invoice, Secrets: []string{secret}, Repeat: 20, Concurrent: 20,
	})
	if err != nil {
		return err
	}
	if err := allAccepted(answers, 20); err != nil {
		return err
	}
	w.Say("  answers: 20 times 200 with body %s", answers[0].Digest)
	if err := w.expect(ctx, 1, "orders booked", ordersOf, invoice); err != nil {
		return err
	}
	if _, err := w.expectOneCall(ctx, event); err != nil {
		return err
	}
	return w.waitCounted(ctx, 22, 20)
}

// waitCounted waits until the ledger has counted what was sent: receivers write their counts every ten seconds.
func (w *World) waitCounted(ctx context.Context, received, duplicates int64) error {
	return Eventually(ctx, time.Minute, time.Second, func(ctx context.Context) error {
		status, err := w.ReceiverStatus(ctx, "payments")
		if err != nil {
			return err
		}
		if d := status.Deliveries; d == nil || d.Received < received || d.Duplicates < duplicates {
			return fmt.Errorf("counted so far: %+v", d)
		}
		w.Say("  counted: %d received, %d duplicates", status.Deliveries.Received, status.Deliveries.Duplicates)
		return nil
	})
}

// gate is the advisory lock that holds the gated effect up.
const gate = 7_301_977

// gatedEffect makes the shop's effect pass a gate that the story can close, so that a receiver can be killed between
// claim and commit. The ledger's own limit on waiting for locks is lifted for the gate alone.
const gatedEffect = `
DO $$ BEGIN
  IF to_regprocedure('shop.book_invoice(hookonce.event)') IS NULL THEN
    ALTER FUNCTION shop.on_invoice_paid(hookonce.event) RENAME TO book_invoice;
  END IF;
END $$;
CREATE OR REPLACE FUNCTION shop.on_invoice_paid(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  limit_before text := current_setting('lock_timeout');
BEGIN
  PERFORM set_config('lock_timeout', '0', true);
  PERFORM pg_advisory_xact_lock_shared(7301977);
  PERFORM set_config('lock_timeout', limit_before, true);
  RETURN shop.book_invoice(e);
END $$;
`

func crash(ctx context.Context, w *World) error {
	secret, err := w.CurrentSecret(ctx, "payments")
	if err != nil {
		return err
	}
	event, invoice := w.Event("crash"), w.Invoice("crash")
	delivery := Delivery{Endpoint: "payments", EventID: event, ResourceID: invoice, Secrets: []string{secret}}
	if err := w.crashInsideEffect(ctx, delivery); err != nil {
		return err
	}
	if _, err := w.SendUntilAccepted(ctx, 90*time.Second, delivery); err != nil {
		return err
	}
	if err := w.expect(ctx, 1, "orders booked", ordersOf, invoice); err != nil {
		return err
	}
	if _, err := w.expectOneCall(ctx, event); err != nil {
		return err
	}
	return w.WaitEndpoint(ctx, "payments", 2*time.Minute, Ready)
}

// crashInsideEffect sends a delivery, holds its effect up at the gate, kills every receiver and opens the gate again.
func (w *World) crashInsideEffect(ctx context.Context, delivery Delivery) error {
	keeper, err := w.DB.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("reach the gate: %w", err)
	}
	defer keeper.Release()
	if _, err := keeper.Exec(ctx, `SELECT pg_advisory_lock($1)`, gate); err != nil {
		return fmt.Errorf("close the gate: %w", err)
	}
	defer func() { _, _ = keeper.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock_all()`) }()

	type outcome struct {
		answers []Answer
		err     error
	}
	first := make(chan outcome, 1)
	go func() {
		answers, err := w.Send(ctx, delivery)
		first <- outcome{answers, err}
	}()
	if err := w.waitAtGate(ctx); err != nil {
		return err
	}
	w.Say("  the event is claimed, its effect is under way, nothing is committed")
	if err := w.killReceivers(ctx, delivery.Endpoint); err != nil {
		return err
	}
	got := <-first
	if got.err == nil && got.answers[0].Status/100 == 2 {
		return errors.New("a delivery was acknowledged although its receiver died before the commit")
	}
	w.Say("  the first sending got no acknowledgement")
	return nil
}

// waitAtGate waits until an effect is at the gate, inside its transaction: the claim is made and nothing is committed.
func (w *World) waitAtGate(ctx context.Context) error {
	const waiting = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND mode = 'ShareLock'`
	return Eventually(ctx, 10*time.Second, 20*time.Millisecond, func(ctx context.Context) error {
		n, err := w.Count(ctx, waiting)
		if err == nil && n == 0 {
			err = errors.New("no effect is under way")
		}
		return err
	})
}

// killReceivers ends the processes of all receivers of an endpoint at once, without a chance to finish anything.
func (w *World) killReceivers(ctx context.Context, endpoint string) error {
	pods, err := w.receivers(ctx, endpoint)
	if err != nil {
		return err
	}
	killed := 0
	for _, pod := range pods {
		processes, err := processesWith(publicArgument(pod))
		if err != nil {
			return err
		}
		for _, pid := range processes {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				return fmt.Errorf("kill the receiver of %s: %w", pod.Name, err)
			}
			killed++
		}
	}
	if killed > 0 {
		w.Say("  killed (SIGKILL): %d receivers", killed)
		return nil
	}
	// The pods of a cluster elsewhere are ended by their kubelet, as hard as one can ask for.
	if _, err := w.Kubectl(ctx, "delete", "pods", "-n", Namespace, "--force", "--grace-period=0",
		"-l", "app.kubernetes.io/name=hookonce-receiver,webhooks.hookonce.dev/endpoint="+endpoint); err != nil {
		return err
	}
	w.Say("  deleted without grace: %d receivers", len(pods))
	return nil
}

func secondEndpoint(ctx context.Context, w *World) error {
	secret, err := w.CurrentSecret(ctx, "payments-eu")
	if err != nil {
		return err
	}
	event, invoice := w.Event("twin"), w.Invoice("once")
	answers, err := w.Send(ctx, Delivery{Endpoint: "payments-eu", EventID: event, ResourceID: invoice, Secrets: []string{secret}})
	if err != nil {
		return err
	}
	if err := allAccepted(answers, 1); err != nil {
		return err
	}
	if err := w.expect(ctx, 1, "claims of the second event id", claimsOf, event); err != nil {
		return err
	}
	return w.expect(ctx, 1, "orders booked for the payment", ordersOf, invoice)
}
