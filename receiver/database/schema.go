// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"embed"
	"errors"
	"io/fs"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/internal/sqlfile"
)

//go:embed sql/*.sql
var files embed.FS

const (
	// DefaultSchema holds the ledger's tables.
	DefaultSchema = "hookonce"
	// PartitionsAhead are the days that are made ahead: a prune that fails for two weeks costs nothing.
	PartitionsAhead = 14

	// EndpointPrefix begins the names of the scopes in which endpoints claim event ids; the endpoint follows.
	EndpointPrefix = "endpoint:"
	// EffectPrefix begins the names of the scopes of effects that are booked once per resource; the function follows.
	EffectPrefix = "effect:"
)

// The SQLSTATEs that the ledger and its retention both look for.
const (
	CodeLockTimeout = "55P03"
	CodeNoTable     = "42P01"
)

// Statements returns the statements in sql, for the schema, and with them the shared ones, by file name without .sql.
// Errors are *sqlfile.InvalidNameError and those of reading.
func Statements(sql fs.FS, schema string) (map[string]string, error) {
	shared, err := sqlfile.Load(files, "sql/*.sql", schema)
	if err != nil {
		return nil, err
	}
	own, err := sqlfile.Load(sql, "sql/*.sql", schema)
	if err != nil {
		return nil, err
	}
	maps.Copy(own, shared)
	return own, nil
}

// Code is the SQLSTATE of a server's error, and empty if the error is not the server's.
func Code(err error) string {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.Code
	}
	return ""
}

// Milliseconds is how the server's settings take a duration.
func Milliseconds(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10)
}
