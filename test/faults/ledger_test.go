// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/test/faults/history"
)

// readLedger fills in what the database holds.
func (w *world) readLedger(ctx context.Context, h *history.History) error {
	conn, err := pgx.Connect(ctx, w.databaseURL(address(w.pgOptions.Port)))
	if err != nil {
		return fmt.Errorf("connect to read the ledger: %w", err)
	}
	defer conn.Close(ctx)
	endpoints := map[string]int{}
	for i, e := range w.endpoints {
		endpoints[e.name] = i
		endpoints["endpoint:"+e.name] = i
	}
	reader := &ledgerReader{conn: conn, endpoints: endpoints, h: h}
	for _, read := range []func(context.Context) error{
		reader.claims, reader.events, reader.effects, reader.deliveries, reader.booked, reader.counters,
	} {
		if err := read(ctx); err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
	}
	return nil
}

type ledgerReader struct {
	conn      *pgx.Conn
	endpoints map[string]int
	h         *history.History
}

// collect appends each row of a query.
func collect[T any](ctx context.Context, conn *pgx.Conn, into *[]T, sql string, scan func(row pgx.CollectableRow) (T, error)) error {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, scan)
	*into = append(*into, found...)
	return err
}

// endpoint is the place of an endpoint.
func (r *ledgerReader) endpoint(name string) (int, error) {
	if i, ok := r.endpoints[name]; ok {
		return i, nil
	}
	return 0, fmt.Errorf("%q is no endpoint of this run", name)
}

func (r *ledgerReader) claims(ctx context.Context) error {
	return collect(ctx, r.conn, &r.h.Claims, `SELECT s.name, c.event, c.body_digest, c.status::int, coalesce(c.result, ''), c.result IS NOT NULL
		FROM hookonce.claim c JOIN hookonce.scope s ON s.id = c.scope`,
		func(row pgx.CollectableRow) (c history.Claim, err error) {
			var scope string
			var digest, result []byte
			if err = row.Scan(&scope, &c.Event, &digest, &c.Status, &result, &c.HasResult); err != nil {
				return c, err
			}
			copy(c.Body[:], digest)
			c.Result = string(result)
			c.Endpoint, err = r.endpoint(scope)
			return c, err
		})
}

func (r *ledgerReader) events(ctx context.Context) error {
	return collect(ctx, r.conn, &r.h.Events, `SELECT id, endpoint, event_id, coalesce(event_type, ''), coalesce(resource_id, ''), sha256(body)
		FROM hookonce.event`,
		func(row pgx.CollectableRow) (e history.Event, err error) {
			var name string
			var digest []byte
			if err = row.Scan(&e.ID, &name, &e.EventID, &e.Type, &e.Resource, &digest); err != nil {
				return e, err
			}
			copy(e.Body[:], digest)
			e.Endpoint, err = r.endpoint(name)
			return e, err
		})
}

func (r *ledgerReader) effects(ctx context.Context) error {
	return collect(ctx, r.conn, &r.h.Effects, `SELECT effect, endpoint, event, event_id, event_type, resource, body FROM shop.effects`,
		func(row pgx.CollectableRow) (f history.Effect, err error) {
			var name string
			var digest []byte
			if err = row.Scan(&f.Name, &name, &f.Event, &f.EventID, &f.Type, &f.Resource, &digest); err != nil {
				return f, err
			}
			copy(f.Body[:], digest)
			f.Endpoint, err = r.endpoint(name)
			return f, err
		})
}

func (r *ledgerReader) deliveries(ctx context.Context) error {
	return collect(ctx, r.conn, &r.h.Deliveries, `SELECT id, event, destination, false FROM hookonce.delivery
		UNION ALL SELECT id, event, destination, true FROM hookonce.failed_delivery`,
		func(row pgx.CollectableRow) (d history.Delivery, err error) {
			err = row.Scan(&d.ID, &d.Event, &d.Destination, &d.Failed)
			return d, err
		})
}

func (r *ledgerReader) booked(ctx context.Context) error {
	return collect(ctx, r.conn, &r.h.Booked, `SELECT delivery, number FROM hookonce.attempt`,
		func(row pgx.CollectableRow) (b history.Booked, err error) {
			err = row.Scan(&b.Delivery, &b.Number)
			return b, err
		})
}

func (r *ledgerReader) counters(ctx context.Context) error {
	type counter struct {
		scope, name string
		n           int64
	}
	var found []counter
	err := collect(ctx, r.conn, &found, `SELECT s.name, c.name, sum(c.n)::bigint
		FROM hookonce.counter c JOIN hookonce.scope s ON s.id = c.scope GROUP BY s.name, c.name`,
		func(row pgx.CollectableRow) (c counter, err error) {
			err = row.Scan(&c.scope, &c.name, &c.n)
			return c, err
		})
	if err != nil {
		return err
	}
	r.h.Counters = make([]history.Counts, len(r.h.Endpoints))
	for _, c := range found {
		i, err := r.endpoint(c.scope)
		if err != nil {
			return err
		}
		fields := map[string]*int64{
			receiver.CountReceived: &r.h.Counters[i].Received, receiver.CountProcessed: &r.h.Counters[i].Processed,
			receiver.CountRefused: &r.h.Counters[i].Refused, receiver.CountDuplicates: &r.h.Counters[i].Duplicates,
		}
		if field := fields[c.name]; field != nil {
			*field = c.n
		}
	}
	return nil
}

// unfinished counts what is in the outbox; -1 if the database cannot say.
func (w *world) unfinished(ctx context.Context) int64 {
	conn, err := pgx.Connect(ctx, w.databaseURL(address(w.pgOptions.Port)))
	if err != nil {
		return -1
	}
	defer conn.Close(ctx)
	var n int64
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM hookonce.delivery").Scan(&n); err != nil {
		return -1
	}
	return n
}
