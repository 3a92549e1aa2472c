// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// A request has ended, one way or the other, by its deadline, so that draining can be given a time.
func TestRecordKeepsToItsDeadline(t *testing.T) {
	for name, atCommit := range map[string]bool{"in an effect": false, "at the commit": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			function := "shop.gate"
			if atCommit {
				function = "shop.book"
				f.exec(`CREATE FUNCTION shop.wait() RETURNS trigger LANGUAGE plpgsql AS
						$$ BEGIN SET LOCAL lock_timeout = 0; PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
					CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON shop.orders DEFERRABLE INITIALLY DEFERRED
						FOR EACH ROW EXECUTE FUNCTION shop.wait()`)
			}
			gate := f.closeGate()
			l := f.open()
			// The last 3 s are for the commit. Without the deadline an effect has 7 s, and a commit 5 s more than its work.
			ctx, cancel := context.WithTimeout(t.Context(), 3200*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := l.Record(ctx, event("evt_1"), work(function))
			if took := time.Since(began); !errors.Is(err, receiver.ErrUnavailable) || took > 4900*time.Millisecond {
				t.Errorf("got %v after %s", err, took)
			}
			gate.open()
			eventually(t, "the retry finds the truth", func() bool {
				receipt, err := l.Record(t.Context(), event("evt_1"), work("shop.book"))
				return err == nil && (receipt.Kind == receiver.Processed || receipt.Kind == receiver.Duplicate)
			})
			f.wantCounts(map[string]int64{"shop.orders": 1, "hookonce.claim": 1})
		})
	}
}

func TestAPanicDoesNotLeaveAnEventInFlight(t *testing.T) {
	f := newFixture(t)
	broken := true
	l := f.open(func(o *ledger.Options) {
		o.Lease = func() time.Duration {
			if broken {
				panic("a mistake") //nolint:forbidigo // what the test is about
			}
			return time.Minute
		}
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = l.Record(t.Context(), event("evt_1"), toFulfilment)
	}()
	broken = false
	if receipt := record(t, l, event("evt_1"), toFulfilment); receipt.Kind != receiver.Processed {
		t.Errorf("got kind %d", receipt.Kind)
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 1, "hookonce.delivery": 1})
}

// The id's claim is found taken, and pruned before it is looked up: the row of the body, which is this event's own and is
// about to be rolled back, must not be taken for an answer.
func TestAnEventIsNoDuplicateOfItself(t *testing.T) {
	f := newFixture(t)
	l, other := f.open(), f.open()
	unsigned := func(body string) func(*receiver.Event) {
		return func(e *receiver.Event) { e.ClaimBody, e.Body = true, []byte(body) }
	}
	record(t, other, event("evt_1", unsigned("one")), work("shop.book"))
	f.exec(`CREATE FUNCTION shop.wait() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN SET LOCAL lock_timeout = 0; PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
		CREATE TRIGGER wait AFTER INSERT ON hookonce.claim FOR EACH STATEMENT EXECUTE FUNCTION shop.wait()`)
	gate := f.closeGate()
	done := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(t.Context(), event("evt_1", unsigned("two")), work("shop.book"))
		done <- outcome{receipt, err}
	}()
	gate.awaitVisitor()
	f.exec("DELETE FROM hookonce.claim")
	gate.open()
	if o := <-done; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("got %v, kind %d, want Processed", o.err, o.receipt.Kind)
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 2, "shop.orders": 2})
}
