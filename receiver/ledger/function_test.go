// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// inGo opens a ledger with an effect in Go.
func (f *fixture) inGo(effect ledger.EffectFunc) *ledger.Ledger {
	return f.open(func(o *ledger.Options) { o.Functions = map[string]ledger.EffectFunc{"go.book": effect} })
}

func bookInGo(ctx context.Context, tx pgx.Tx, e receiver.Event) (json.RawMessage, error) {
	var order int
	err := tx.QueryRow(ctx, "INSERT INTO shop.orders (event_id) VALUES ($1) RETURNING id", e.ID).Scan(&order)
	return fmt.Appendf(nil, `{"b": 1,"order":%d}`, order), err
}

func TestAnEffectInGoIsBookedWithTheClaim(t *testing.T) {
	f := newFixture(t)
	l := f.inGo(bookInGo)
	w := work("shop.book", "go.book")
	w.Effects[1].Name = "go"
	first, again := record(t, l, event("evt_1"), w), record(t, l, event("evt_1"), w)
	want := `{"event":"evt_1","effects":{"book":{"a": "x", "z": 1.50, "order": 1},"go":{"b": 1,"order":2}}}`
	if string(first.Answer.Body) != want || string(again.Answer.Body) != want || again.Kind != receiver.Duplicate {
		t.Errorf("got %s and %s (kind %d), want %s", first.Answer.Body, again.Answer.Body, again.Kind, want)
	}
	f.wantCounts(map[string]int64{"shop.orders": 2, "hookonce.claim": 1})
}

func TestAnEffectInGoIsBookedOncePerResource(t *testing.T) {
	f := newFixture(t)
	l := f.inGo(bookInGo)
	w := receiver.Work{Effects: []receiver.Effect{{Name: "book", Function: "go.book", OncePerResource: true}}}
	for _, id := range []string{"evt_1", "evt_2"} {
		receipt := record(t, l, event(id, func(e *receiver.Event) { e.ResourceID = "inv_9" }), w)
		if want := `{"event":"` + id + `","effects":{"book":{"b": 1, "order": 1}}}`; string(receipt.Answer.Body) != want {
			t.Errorf("got %s, want %s", receipt.Answer.Body, want)
		}
	}
	f.wantCounts(map[string]int64{"shop.orders": 1, "hookonce.effect": 1})
}

func TestHowAnEffectInGoMayFail(t *testing.T) {
	f := newFixture(t)
	for name, effect := range map[string]ledger.EffectFunc{
		"of its own": func(context.Context, pgx.Tx, receiver.Event) (json.RawMessage, error) {
			return nil, errors.New("card 4242 is broken")
		},
		"in SQL": func(ctx context.Context, tx pgx.Tx, _ receiver.Event) (json.RawMessage, error) {
			_, err := tx.Exec(ctx, "SELECT 4242 / 0")
			return nil, err
		},
		"no JSON": func(context.Context, pgx.Tx, receiver.Event) (json.RawMessage, error) {
			return json.RawMessage("4242,"), nil
		},
		"of another system's connection": func(context.Context, pgx.Tx, receiver.Event) (json.RawMessage, error) {
			return nil, fmt.Errorf("ask 4242: %w", io.ErrUnexpectedEOF)
		},
		"of another database": func(context.Context, pgx.Tx, receiver.Event) (json.RawMessage, error) {
			return nil, fmt.Errorf("ask 4242: %w", &pgconn.PgError{Code: "57P01", Message: "4242"})
		},
		"passes over an error in SQL": func(ctx context.Context, tx pgx.Tx, _ receiver.Event) (json.RawMessage, error) {
			_, _ = tx.Exec(ctx, "SELECT 4242 / 0")
			return nil, nil
		},
		"ends the transaction": func(ctx context.Context, tx pgx.Tx, _ receiver.Event) (json.RawMessage, error) {
			return nil, tx.Rollback(ctx)
		},
	} {
		failed, calls := "", 0
		l := f.open(func(o *ledger.Options) {
			o.EffectFailed = func(effect string) { failed = effect }
			o.Functions = map[string]ledger.EffectFunc{"go.book": func(ctx context.Context, tx pgx.Tx, e receiver.Event) (json.RawMessage, error) {
				if _, err := bookInGo(ctx, tx, e); err != nil {
					return nil, err
				}
				calls++
				return effect(ctx, tx, e)
			}}
		})
		_, err := l.Record(t.Context(), event("evt_1"), work("go.book"))
		if !errors.Is(err, receiver.ErrUnavailable) || strings.Contains(err.Error(), "4242") || failed != "book" {
			t.Errorf("%s: got %v, and %q is told of", name, err, failed)
		}
		if check := l.Check(t.Context()); calls != 1 || !check.Reachable {
			t.Errorf("%s: called %d times, and the database is said to be %+v", name, calls, check)
		}
	}
	f.wantCounts(map[string]int64{"shop.orders": 0, "hookonce.claim": 0})
}

func TestARefusalInGoKeepsTheClaim(t *testing.T) {
	f := newFixture(t)
	l := f.inGo(func(ctx context.Context, tx pgx.Tx, e receiver.Event) (json.RawMessage, error) {
		if _, err := bookInGo(ctx, tx, e); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("book: %w", ledger.Refuse("the account is closed"))
	})
	w := work("go.book")
	w.Destinations = []string{"fulfilment"}
	for _, kind := range []receiver.Kind{receiver.Refused, receiver.Duplicate} {
		receipt := record(t, l, event("evt_1"), w)
		if want := `{"event":"evt_1","refused":"the account is closed"}`; receipt.Kind != kind || string(receipt.Answer.Body) != want {
			t.Errorf("got kind %d, %s, want kind %d, %s", receipt.Kind, receipt.Answer.Body, kind, want)
		}
	}
	f.wantCounts(map[string]int64{"shop.orders": 0, "hookonce.claim": 1, "hookonce.delivery": 0})
}

// A function can send the server any text. What it commits so has no answer, and never gets one that was not stored.
func TestAClaimThatAFunctionCommittedIsNeverAnswered(t *testing.T) {
	f := newFixture(t)
	var log bytes.Buffer
	l := f.open(func(o *ledger.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Functions = map[string]ledger.EffectFunc{"go.book": func(ctx context.Context, tx pgx.Tx, _ receiver.Event) (json.RawMessage, error) {
			_, err := tx.Exec(ctx, "COMMIT")
			return json.RawMessage("1"), err
		}}
	})
	for _, w := range []receiver.Work{work("go.book"), work("go.book"), {}, work("shop.book")} {
		if receipt, err := l.Record(t.Context(), event("evt_1"), w); !errors.Is(err, receiver.ErrUnavailable) {
			t.Errorf("with %v: got %s, %v", w.Effects, receipt.Answer.Body, err)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 1, "hookonce.claim WHERE status = 0": 1})
	if n := strings.Count(log.String(), "ended the transaction"); n != 4 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
}

func TestWhyAnEffectInGoFailedIsLoggedOnce(t *testing.T) {
	f := newFixture(t)
	for want, fail := range map[string]func(context.Context, pgx.Tx) error{
		"the mail server is away": func(context.Context, pgx.Tx) error { return errors.New("the mail server is away") },
		"SQLSTATE 22012":          func(ctx context.Context, tx pgx.Tx) error { return execute(ctx, tx, "SELECT 4242 / 0") },
		"SQLSTATE 22P02":          func(ctx context.Context, tx pgx.Tx) error { return execute(ctx, tx, "SELECT '4242x'::int") },
	} {
		var log bytes.Buffer
		l := f.open(func(o *ledger.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			o.Functions = map[string]ledger.EffectFunc{"go.book": func(ctx context.Context, tx pgx.Tx, _ receiver.Event) (json.RawMessage, error) {
				return nil, fail(ctx, tx)
			}}
		})
		if _, err := l.Record(t.Context(), event("evt_1"), work("go.book")); !errors.Is(err, receiver.ErrUnavailable) {
			t.Errorf("%s: got %v", want, err)
		}
		if text := log.String(); strings.Count(text, want) != 1 || strings.Count(text, "\n") != 1 || strings.Contains(text, "4242") {
			t.Errorf("want %s once, got:\n%s", want, text)
		}
	}
}

func execute(ctx context.Context, tx pgx.Tx, sql string) error {
	_, err := tx.Exec(ctx, sql)
	return err
}

func TestADeadlineOfTheFunctionsOwnIsNotTheDatabases(t *testing.T) {
	f := newFixture(t)
	l := f.inGo(func(context.Context, pgx.Tx, receiver.Event) (json.RawMessage, error) {
		return nil, fmt.Errorf("ask the mail server: %w", context.DeadlineExceeded)
	})
	if _, err := l.Record(t.Context(), event("evt_1"), work("go.book")); !errors.Is(err, receiver.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	failing := l.FailingEffects(map[string]string{"book": "go.book"})
	if len(failing) != 1 || failing[0].Code != "" {
		t.Errorf("got %+v", failing)
	}
}
