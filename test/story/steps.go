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
	_, err = w.expectOneCall(ctx, event)
	return err
}

// slowEffect makes the shop's effect wait when the event's id asks for it, so that a receiver can be killed between
// claim and commit.
const slowEffect = `
DO $$ BEGIN
  IF to_regprocedure('shop.book_invoice(hookonce.event)') IS NULL THEN
    ALTER FUNCTION shop.on_invoice_paid(hookonce.event) RENAME TO book_invoice;
  END IF;
END $$;
CREATE OR REPLACE FUNCTION shop.on_invoice_paid(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  IF e.event_id LIKE '%\_slow' AND NOT EXISTS (SELECT FROM shop.crashed WHERE event_id = e.event_id) THEN
    PERFORM pg_sleep(3);
  END IF;
  RETURN shop.book_invoice(e);
END $$;
CREATE TABLE IF NOT EXISTS shop.crashed (event_id text PRIMARY KEY);
`

func crash(ctx context.Context, w *World) error {
	secret, err := w.CurrentSecret(ctx, "payments")
	if err != nil {
		return err
	}
	event, invoice := w.Event("slow"), w.Invoice("slow")
	delivery := Delivery{Endpoint: "payments", EventID: event, ResourceID: invoice, Secrets: []string{secret}}

	type outcome struct {
		answers []Answer
		err     error
	}
	first := make(chan outcome, 1)
	go func() {
		answers, err := w.Send(ctx, delivery)
		first <- outcome{answers, err}
	}()
	if err := w.waitInsideEffect(ctx); err != nil {
		return err
	}
	if err := w.killReceivers(ctx, "payments"); err != nil {
		return err
	}
	got := <-first
	if got.err == nil && got.answers[0].Status/100 == 2 {
		return errors.New("a delivery was acknowledged although its receiver died before the commit")
	}
	w.Say("  the first sending got no acknowledgement")
	if _, err := w.DB.Exec(ctx, `INSERT INTO shop.crashed VALUES ($1)`, event); err != nil {
		return fmt.Errorf("let the second sending pass: %w", err)
	}
	if _, err := w.SendUntilAccepted(ctx, 90*time.Second, delivery); err != nil {
		return err
	}
	if err := w.expect(ctx, 1, "orders booked", ordersOf, invoice); err != nil {
		return err
	}
	_, err = w.expectOneCall(ctx, event)
	return err
}

// waitInsideEffect waits until an effect is asleep inside its transaction: the claim is made and nothing is committed.
func (w *World) waitInsideEffect(ctx context.Context) error {
	const asleep = `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%on_invoice_paid%'`
	return Eventually(ctx, 10*time.Second, 20*time.Millisecond, func(ctx context.Context) error {
		n, err := w.Count(ctx, asleep)
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
	if killed == 0 {
		return fmt.Errorf("found no receiver process of %s to kill", endpoint)
	}
	w.Say("  killed (SIGKILL): %d receivers", killed)
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
