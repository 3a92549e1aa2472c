// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/sqlfile"
	"github.com/hookonce/hookonce/receiver/database"
)

// latestVersion of the schema: the number of migrations.
const latestVersion int32 = 4

const migrateTimeout = 2 * time.Minute

// ErrEncoding says that the database cannot keep every text that an event may carry.
var ErrEncoding = errors.New("the database's encoding is not UTF8: create it with ENCODING 'UTF8'")

// Migrate brings the schema to the version of this build, making it if it is absent, and makes the partitions of the
// coming days. It is one transaction: it happens as a whole or not at all, and of several at once the others wait. Errors
// are *SchemaTooNewError, *sqlfile.InvalidNameError, ErrEncoding, database.ErrURI and its like, or those of the database.
func Migrate(ctx context.Context, url, schema string) error {
	if schema == "" {
		schema = database.DefaultSchema
	}
	statements, err := loadStatements(schema)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	config, err := database.Parse(url, settings(0))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, migrateTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("migrate: connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite},
		func(pgx.Tx) error { return migrateIn(ctx, conn, schema, statements) })
	if err != nil {
		return fmt.Errorf("migrate the schema %s: %w", schema, err)
	}
	return nil
}

// migrateIn works inside the caller's transaction, which a pooler keeps on one server connection. Where nothing is to be
// done, it needs no rights to do it: the receivers' role may find that out.
func migrateIn(ctx context.Context, conn *pgx.Conn, schema string, statements *statements) error {
	quoted := pgx.Identifier{schema}.Sanitize()
	var encoding string
	var exists, versioned bool
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "hookonce.migrate "+schema); err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	err := conn.QueryRow(ctx, `SELECT current_setting('server_encoding'),
		EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), to_regclass($2) IS NOT NULL`,
		schema, quoted+".schema_version").Scan(&encoding, &exists, &versioned)
	if err != nil {
		return fmt.Errorf("look for the schema: %w", err)
	}
	if encoding != "UTF8" {
		return ErrEncoding
	}
	if !exists {
		if _, err := conn.Exec(ctx, "CREATE SCHEMA "+quoted); err != nil {
			return fmt.Errorf("create the schema: %w", err)
		}
	}
	var have int32
	if versioned {
		if err := conn.QueryRow(ctx, statements.version).Scan(&have); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("read the schema's version: %w", err)
		}
	}
	switch {
	case have > latestVersion:
		return &SchemaTooNewError{Schema: schema, Have: have, Want: latestVersion}
	case have < latestVersion:
		if err := runMigrations(ctx, conn, schema, quoted, have); err != nil {
			return err
		}
	}
	if _, err := conn.Exec(ctx, statements.partitions, database.PartitionsAhead); err != nil {
		return fmt.Errorf("make partitions: %w", err)
	}
	return nil
}

// runMigrations runs those that come after the version that the schema has. Migrations are numbered in the order of their
// names, from 1. The table of one row that keeps the version is older than this code, and must stay as it is.
func runMigrations(ctx context.Context, conn *pgx.Conn, schema, quoted string, have int32) error {
	texts, err := sqlfile.Load(files, "migrations/*.sql", schema)
	if err != nil {
		return err
	}
	table := quoted + ".schema_version"
	start := fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s (version int4 NOT NULL);
		INSERT INTO %[1]s (version) SELECT 0 WHERE NOT EXISTS (SELECT FROM %[1]s)`, table)
	if err := conn.PgConn().Exec(ctx, start).Close(); err != nil {
		return fmt.Errorf("make the table of the schema's version: %w", err)
	}
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		version := int32(i) + 1
		if version <= have {
			continue
		}
		if err := conn.PgConn().Exec(ctx, texts[name]).Close(); err != nil {
			return fmt.Errorf("run migration %s: %w", name, err)
		}
		if _, err := conn.Exec(ctx, "UPDATE "+table+" SET version = $1", version); err != nil {
			return fmt.Errorf("note the schema's version: %w", err)
		}
	}
	return nil
}
