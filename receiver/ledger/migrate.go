// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"

	"github.com/hookonce/hookonce/internal/sqlfile"
	"github.com/hookonce/hookonce/receiver/database"
)

// latestVersion of the schema: the number of migrations.
const latestVersion int32 = 1

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
		if err := runMigrations(ctx, conn, schema, quoted); err != nil {
			return err
		}
	}
	if _, err := conn.Exec(ctx, statements.partitions, database.PartitionsAhead); err != nil {
		return fmt.Errorf("make partitions: %w", err)
	}
	return nil
}

func runMigrations(ctx context.Context, conn *pgx.Conn, schema, quoted string) error {
	texts, err := sqlfile.Load(files, "migrations/*.sql", schema)
	if err != nil {
		return err
	}
	// The transaction around it is ours, and so is the lock that makes others wait.
	migrator, err := migrate.NewMigratorEx(ctx, conn, quoted+".schema_version", &migrate.MigratorOptions{DisableTx: true})
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	sequence := int32(0)
	for _, name := range names {
		sequence++
		migrator.Migrations = append(migrator.Migrations, &migrate.Migration{
			Sequence: sequence,
			Name:     name,
			UpFunc: func(ctx context.Context, conn *pgx.Conn) error {
				return conn.PgConn().Exec(ctx, strings.TrimSpace(texts[name])).Close()
			},
		})
	}
	if err := migrator.Migrate(ctx); err != nil {
		return fmt.Errorf("run migrations: %w", err)
	}
	return nil
}
