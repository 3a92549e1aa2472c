// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"

	"github.com/hookonce/hookonce/receiver/database"
)

// SchemaTooNewError says that the schema was migrated by a newer build, which this one must not write to.
type SchemaTooNewError struct {
	Schema     string
	Have, Want int32
}

func (e *SchemaTooNewError) Error() string {
	return fmt.Sprintf("the schema %s is at version %d and this build knows %d: run a newer build, or use another schema",
		e.Schema, e.Have, e.Want)
}

// SchemaMissingError says that the schema is not there, or is older than this build needs; Have is 0 if it is not there.
type SchemaMissingError struct {
	Schema     string
	Have, Want int32
}

func (e *SchemaMissingError) Error() string {
	return fmt.Sprintf("the schema %s is at version %d and this build needs %d: run receiver migrate", e.Schema, e.Have, e.Want)
}

// connect takes a connection to a schema of the version that this build writes to; nothing is written to any other. The
// version is asked for before the first use of a database, and again by each Check.
func (l *Ledger) connect(ctx context.Context) (*connection, error) {
	conn, err := l.db.acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if conn.target.admitted.Load() {
		return conn, nil
	}
	if err := l.admit(ctx, conn); err != nil {
		conn.abandon(ctx, err)
		conn.Release()
		return nil, err
	}
	return conn, nil
}

// admit reads the version and says whether this build may write to the schema: nil, *SchemaTooNewError or
// *SchemaMissingError.
func (l *Ledger) admit(ctx context.Context, conn *connection) error {
	var have int32
	err := conn.QueryRow(ctx, l.sql.version).Scan(&have)
	if err != nil && database.Code(err) != database.CodeNoTable {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	return l.judge(conn.target, have)
}

func (l *Ledger) judge(t *target, have int32) error {
	t.admitted.Store(have == latestVersion)
	switch {
	case have > latestVersion:
		return &SchemaTooNewError{Schema: l.options.Schema, Have: have, Want: latestVersion}
	case have < latestVersion:
		return &SchemaMissingError{Schema: l.options.Schema, Have: have, Want: latestVersion}
	}
	return nil
}
