// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// call is one function to call.
type call struct {
	effect receiver.Effect
	callTexts
	// function is the effect in Go, instead of one in SQL.
	function EffectFunc
	// guarded says that the effect is booked once per resource: only the transaction that wins the guard calls it.
	guarded bool
	scope   int32
	won     bool
	// shared says that an earlier call of this transaction won the guard: both are of the same function.
	shared bool
	// stored is the result of the transaction that won, for those that did not.
	stored string
}

// refusal is a function's decision that the event shall not be processed, now or later.
type refusal struct{ message string }

func (l *Ledger) prepareCalls(ctx context.Context, conn *connection, event receiver.Event, effects []receiver.Effect) ([]call, error) {
	calls := make([]call, len(effects))
	for i, effect := range effects {
		var texts callTexts
		var err error
		function := l.options.Functions[effect.Function]
		if function == nil {
			if texts, err = l.texts(effect.Function); err != nil {
				return nil, err
			}
		}
		// Without a resource id there is nothing to be booked once for: one key for all such events would swallow them.
		guarded := effect.OncePerResource && event.ResourceID != ""
		calls[i] = call{effect: effect, callTexts: texts, function: function, guarded: guarded, won: !guarded}
		if guarded {
			if calls[i].scope, err = l.scope(ctx, conn, database.EffectPrefix+effect.Function); err != nil {
				return nil, err
			}
		}
	}
	return calls, nil
}

// store inserts the event, then, undone by a refusal, its deliveries and the guards of its effects.
func (r *recording) store(ctx context.Context) error {
	e := r.event
	batch := &pgx.Batch{}
	batch.Queue(r.l.sql.eventInsert, r.id, r.scope, r.l.options.Endpoint, storable(e.ID), storable(e.Type),
		storable(e.ResourceID), storable(e.ContentType), notNil(e.Headers), notNil(e.Body), e.Payload)
	if len(r.calls) > 0 {
		batch.Queue("savepoint work")
	}
	if err := r.queueDeliveries(batch); err != nil {
		return err
	}
	if scopes, names := r.scopes(func(c call) bool { return c.guarded }); len(scopes) > 0 {
		batch.Queue(r.l.sql.effectGuard, scopes, names, resourceKey(e.ResourceID, e.Type), r.id).Query(r.readGuards)
	}
	if err := r.conn.SendBatch(ctx, batch).Close(); err != nil {
		if database.Code(err) == database.CodeLockTimeout {
			return fmt.Errorf("guard effects: %w: %w", receiver.ErrInFlight, err)
		}
		return fmt.Errorf("store event: %w", err)
	}
	return r.readResults(ctx)
}

func (r *recording) queueDeliveries(batch *pgx.Batch) error {
	if len(r.work.Destinations) == 0 {
		return nil
	}
	token, err := uuid.NewRandom()
	if err != nil {
		return fmt.Errorf("make a lease: %w", err)
	}
	// Our clock is read before the database's, so our end of the lease is the earlier one.
	term := r.l.options.Lease()
	lease := receiver.Lease{Token: token, Expires: r.l.options.Now().Add(term)}
	if r.outbox, err = r.l.newOutbox(&r.event, &r.work); err != nil {
		return err
	}
	ids, resources := make([]uuid.UUID, len(r.outbox)), make([]*string, len(r.outbox))
	resource := storable(r.event.ResourceID)
	for i := range r.outbox {
		ids[i] = r.outbox[i].ID
		if r.outbox[i].Ordered {
			resources[i] = &resource
		} else {
			r.outbox[i].Lease = lease
		}
	}
	batch.Queue(r.l.sql.deliveryInsert, r.scope, r.id, ids, r.work.Destinations, token, term, resources)
	return nil
}

// newOutbox is the event's deliveries, which are to be leased yet.
func (l *Ledger) newOutbox(event *receiver.Event, work *receiver.Work) ([]receiver.Delivery, error) {
	outbox := make([]receiver.Delivery, len(work.Destinations))
	for i, destination := range work.Destinations {
		id, err := l.ids.next(wallClock())
		if err != nil {
			return nil, err
		}
		outbox[i] = receiver.Delivery{
			ID: id, Destination: destination, IdempotencyKey: id.String(), EventID: event.ID, EventType: event.Type,
			ContentType: event.ContentType, Body: event.Body, Attempt: 1,
			Ordered: event.ResourceID != "" && slices.Contains(work.Ordered, destination),
		}
	}
	return outbox, nil
}

// scopes are the numbers and the names of the scopes of some effects. Two effects with the same function share one.
func (r *recording) scopes(of func(call) bool) (scopes []int32, names []string) {
	for _, c := range r.calls {
		if of(c) {
			scopes, names = append(scopes, c.scope), append(names, database.EffectPrefix+c.effect.Function)
		}
	}
	return scopes, names
}

func (r *recording) readGuards(rows pgx.Rows) error {
	scopes, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	for i := range r.calls {
		c := &r.calls[i]
		if c.guarded && slices.Contains(scopes, c.scope) {
			c.shared = slices.ContainsFunc(r.calls[:i], func(earlier call) bool { return earlier.won && earlier.scope == c.scope })
			c.won = !c.shared
		}
	}
	return err
}

// readResults gets, for the guards that others won, what they stored. A statement of its own: see lookup.sql.
func (r *recording) readResults(ctx context.Context) error {
	lost, names := r.scopes(func(c call) bool { return !c.won && !c.shared })
	if len(lost) == 0 {
		return nil
	}
	stored := map[int32]*string{}
	batch := &pgx.Batch{}
	batch.Queue(r.l.sql.effectResults, lost, names, resourceKey(r.event.ResourceID, r.event.Type)).Query(func(rows pgx.Rows) error {
		var scope int32
		var text *string
		_, err := pgx.ForEachRow(rows, []any{&scope, &text}, func() error {
			stored[scope] = text
			return nil
		})
		return err
	})
	if err := r.conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("read stored results: %w", err)
	}
	for i := range r.calls {
		c := &r.calls[i]
		if c.won || c.shared {
			continue
		}
		text, found := stored[c.scope]
		if !found {
			return errGone
		}
		c.stored = jsonOrNull(text)
	}
	return nil
}

// callEffects runs the functions in their order. A refusal undoes what they did and ends the event's work.
func (r *recording) callEffects(ctx context.Context) (*refusal, error) {
	booked := map[int32]string{}
	for i := range r.calls {
		c := &r.calls[i]
		if c.shared {
			c.stored = booked[c.scope]
		}
		if !c.won {
			r.results = append(r.results, result{name: c.effect.Name, text: c.stored})
			continue
		}
		text, refused, err := r.callEffect(ctx, c)
		if err != nil || refused != nil {
			done := i
			if refused != nil {
				done++
			}
			r.l.health.succeeded(r.calls[:done])
			return refused, err
		}
		r.results = append(r.results, result{name: c.effect.Name, text: text})
		booked[c.scope] = text
	}
	return nil, nil
}

func (r *recording) callEffect(ctx context.Context, c *call) (string, *refusal, error) {
	of := r.callSQL
	if c.function != nil {
		of = r.callGo
	}
	text, refused, err := of(ctx, c)
	if err != nil || refused != nil || !c.guarded {
		return text, refused, err
	}
	// As the server keeps it, because that is what others get.
	key := resourceKey(r.event.ResourceID, r.event.Type)
	if err := r.conn.QueryRow(ctx, r.l.sql.effectStore, c.scope, key, text).Scan(&text); err != nil {
		return "", nil, fmt.Errorf("store the result of effect %s: %w", c.effect.Name, err)
	}
	return text, nil, nil
}

func (r *recording) callSQL(ctx context.Context, c *call) (string, *refusal, error) {
	var text *string
	err := r.conn.QueryRow(ctx, c.statement, r.id).Scan(&text)
	var pgErr *pgconn.PgError
	switch {
	case errors.As(err, &pgErr) && pgErr.Code == codeRefused:
		refusal, err := r.refuse(ctx, pgErr.Message)
		return "", refusal, err
	case err != nil:
		return "", nil, c.sqlError(err)
	}
	return jsonOrNull(text), nil, nil
}

func jsonOrNull(text *string) string {
	if text == nil {
		return "null"
	}
	return *text
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
