// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/bench/rig"
	"github.com/hookonce/hookonce/receiver/database"
)

// Subject is something that is measured: a server with a database of its own.
type Subject struct {
	// Name of the subject, and of its database.
	Name string
	// URL of its database; empty if it has none.
	URL string
	// ConfigDir and KeyringDir are the folders of a receiver; empty for others.
	ConfigDir, KeyringDir string

	lab *Lab
	// tables that are emptied before each run, and ids, which returns the event ids that it holds.
	tables, ids string
	run         func(ctx context.Context, args ...string) (*Process, error)
}

// The tables of the ledger, and the question for its event ids: those with a claim only.
const (
	ledgerTables = "hookonce.claim, hookonce.event, hookonce.delivery, shop.orders"
	ledgerIDs    = "SELECT e.event_id FROM hookonce.event e JOIN hookonce.claim c ON c.event = e.id JOIN hookonce.delivery d ON d.event = e.id"
)

// Empty is the handler that only reads.
func (l *Lab) Empty() *Subject {
	return &Subject{Name: "empty", lab: l, run: func(context.Context, ...string) (*Process, error) {
		return start(l.Self, nil, "rig", "empty")
	}}
}

// Handwritten is the handler with a transaction for each request.
func (l *Lab) Handwritten(ctx context.Context) (*Subject, error) {
	return l.rig(ctx, "handwritten", "claim, event, outbox",
		"SELECT e.event_id FROM claim c JOIN event e USING (event_id) JOIN outbox o ON o.event = e.id",
		func(ctx context.Context, url string) error {
			return withConnection(ctx, url, func(conn *pgx.Conn) error {
				return conn.PgConn().Exec(ctx, rig.HandwrittenSchema).Close()
			})
		})
}

// River is the handler that inserts a job of River.
func (l *Lab) River(ctx context.Context) (*Subject, error) {
	return l.rig(ctx, "river", "river_job", "SELECT args->>'event_id' FROM river_job", rig.MigrateRiver)
}

func (l *Lab) rig(
	ctx context.Context, name, tables, ids string, migrate func(context.Context, string) error,
) (*Subject, error) {
	url, err := l.database(ctx, name, migrate)
	if err != nil {
		return nil, err
	}
	return &Subject{Name: name, URL: url, lab: l, tables: tables, ids: ids, run: func(context.Context, ...string) (*Process, error) {
		return start(l.Self, nil, "rig", name, "--secret", Secret, "--database-url", url)
	}}, nil
}

// Ours is the receiver, with a destination and, if it is asked for, an effect.
func (l *Lab) Ours(ctx context.Context, name string, withEffect bool) (*Subject, error) {
	return l.receiver(ctx, name, withEffect, func(ctx context.Context, s *Subject, args ...string) (*Process, error) {
		p, err := start(l.Receiver, l.Environment, append([]string{
			"serve", "--config-dir", s.ConfigDir, "--keyring-dir", s.KeyringDir,
			"--database-url", s.URL, "--public-address", "127.0.0.1:0", "--private-address", "127.0.0.1:0",
			"--destination-networks", "127.0.0.0/8",
		}, args...)...)
		if err != nil {
			return nil, err
		}
		if err := p.ready(ctx); err != nil {
			p.Kill()
			return nil, err
		}
		return p, nil
	})
}

// Embedded is the receiver's handler and ledger in a program of the benchmark's, which writes profiles.
func (l *Lab) Embedded(ctx context.Context, name string, withEffect bool, profile string) (*Subject, error) {
	return l.receiver(ctx, name, withEffect, func(_ context.Context, s *Subject, _ ...string) (*Process, error) {
		return start(l.Self, l.Environment, "rig", "embedded", "--config-dir", s.ConfigDir, "--keyring-dir", s.KeyringDir,
			"--database-url", s.URL, "--profile", profile)
	})
}

func (l *Lab) receiver(
	ctx context.Context, name string, withEffect bool, run func(context.Context, *Subject, ...string) (*Process, error),
) (*Subject, error) {
	f, err := l.makeFolders(name, withEffect)
	if err != nil {
		return nil, err
	}
	url, err := l.database(ctx, name, l.migrateLedger)
	if err != nil {
		return nil, err
	}
	s := &Subject{
		Name: name, URL: url, ConfigDir: f.config, KeyringDir: f.keyring, lab: l, tables: ledgerTables, ids: ledgerIDs,
	}
	s.run = func(ctx context.Context, args ...string) (*Process, error) { return run(ctx, s, args...) }
	return s, nil
}

// Tables is the ledger without a receiver, for pgbench.
func (l *Lab) Tables(ctx context.Context, name string) (*Subject, error) {
	url, err := l.database(ctx, name, l.migrateLedger)
	if err != nil {
		return nil, err
	}
	return &Subject{Name: name, URL: url, lab: l, tables: ledgerTables, ids: ledgerIDs}, nil
}

// MinimalProgram is the least program with a server and a database.
func (l *Lab) MinimalProgram(ctx context.Context) (*Subject, error) {
	url, err := l.database(ctx, "minimal", func(context.Context, string) error { return nil })
	if err != nil {
		return nil, err
	}
	return &Subject{Name: "minimal", URL: url, lab: l, run: func(context.Context, ...string) (*Process, error) {
		return start(l.Minimal, []string{"DATABASE_URL=" + url})
	}}, nil
}

func (l *Lab) database(ctx context.Context, name string, migrate func(context.Context, string) error) (string, error) {
	if err := l.Postgres.CreateDatabase(ctx, name); err != nil {
		return "", err
	}
	url := l.Postgres.URL(name)
	if err := migrate(ctx, url); err != nil {
		return "", fmt.Errorf("prepare the database %s: %w", name, err)
	}
	return url, l.assertDurable(ctx, url)
}

// Start starts the server of the subject, after emptying its tables if that is asked for. Arguments are for the receiver's
// command line; other servers have none.
func (s *Subject) Start(ctx context.Context, empty bool, args ...string) (*Process, error) {
	if s.run == nil {
		return nil, errors.New(s.Name + " is no server")
	}
	if empty {
		if err := s.Empty(ctx); err != nil {
			return nil, err
		}
	}
	return s.run(ctx, args...)
}

// Empty empties all tables of the subject and has everything written, so that each run begins at the same place.
func (s *Subject) Empty(ctx context.Context) error {
	if s.tables == "" {
		return nil
	}
	if err := s.exec(ctx, s.URL, "TRUNCATE "+s.tables); err != nil {
		return err
	}
	return s.Checkpoint(ctx)
}

// Checkpoint has everything written.
func (s *Subject) Checkpoint(ctx context.Context) error {
	return s.exec(ctx, s.lab.Postgres.AdminURL(s.Name), "CHECKPOINT")
}

func (s *Subject) exec(ctx context.Context, url, statement string) error {
	return withConnection(ctx, url, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %s: %w", s.Name, statement, err)
		}
		return nil
	})
}

// EventIDs returns the ids of the events that the subject holds whole; nil if it holds none at all.
func (s *Subject) EventIDs(ctx context.Context) ([]string, error) {
	if s.ids == "" {
		return nil, nil
	}
	var held []string
	err := withConnection(ctx, s.URL, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, s.ids)
		if err != nil {
			return fmt.Errorf("read the event ids of %s: %w", s.Name, err)
		}
		held, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return held, err
}

// HasDatabase says whether the subject keeps what it acknowledges.
func (s *Subject) HasDatabase() bool { return s.ids != "" }

// Retain empties the tables and fills in so many claims of settled events whose payloads have been pruned.
func (s *Subject) Retain(ctx context.Context, claims int) error {
	if err := s.exec(ctx, s.URL, "TRUNCATE "+s.tables); err != nil {
		return err
	}
	err := withConnection(ctx, s.URL, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `INSERT INTO hookonce.claim (event, scope, state, status, key, body_digest)
SELECT gen_random_uuid(), s.id, 1, 200, substring(sha256(int8send(g)) FOR 16), sha256(int8send(-g))
FROM hookonce.scope s, generate_series(1, $1::bigint) AS g WHERE s.name = $2`, claims, database.EndpointPrefix+Endpoint)
		if err != nil {
			return fmt.Errorf("%s: fill in claims: %w", s.Name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.exec(ctx, s.URL, "VACUUM ANALYZE hookonce.claim"); err != nil {
		return err
	}
	return s.Checkpoint(ctx)
}

// EmptyEvents empties the tables of the ledger, except for its claims.
func (s *Subject) EmptyEvents(ctx context.Context) error {
	if err := s.exec(ctx, s.URL, "TRUNCATE hookonce.event, hookonce.delivery, shop.orders"); err != nil {
		return err
	}
	return s.Checkpoint(ctx)
}
