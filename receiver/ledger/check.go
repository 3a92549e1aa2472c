// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// Reasons of receiverstatus.Database.
const (
	reasonConnected     = "Connected"
	reasonTimeout       = "Timeout"
	reasonAuthFailed    = "AuthFailed"
	reasonRefused       = "ConnectionRefused"
	reasonSchemaMissing = "SchemaMissing"
	reasonSchemaTooNew  = "SchemaTooNew"
	reasonFailed        = "Failed"
)

const maxMessage = 300

// Check connects and says how the database is: whether it answers, has the schema that this build needs, and keeps what
// it acknowledges. It takes at most 5 s.
func (l *Ledger) Check(ctx context.Context) receiverstatus.Database {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	status := receiverstatus.Database{Checked: l.options.Now().UTC()}
	conn, err := l.db.acquire(ctx)
	if err != nil {
		status.Reason, status.Message = Explain(err)
		return status
	}
	defer conn.Release()
	if err := l.readSettings(ctx, conn, &status); err != nil {
		conn.abandon(ctx, err)
		status.Reason, status.Message = Explain(err)
		status.Reachable = false
	}
	return status
}

func (l *Ledger) readSettings(ctx context.Context, conn *connection, status *receiverstatus.Database) error {
	var fsync, fullPageWrites, synchronousCommit, standbys string
	var recovering, migrated bool
	// In a transaction as Record's, so that what is judged is what events are committed with.
	batch := l.begin()
	batch.Queue(l.sql.check).QueryRow(func(row pgx.Row) error {
		return row.Scan(&fsync, &fullPageWrites, &synchronousCommit, &standbys, &recovering, &migrated)
	})
	batch.Queue("rollback")
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	status.Reachable = true
	status.Durable = fsync == "on" && fullPageWrites == "on" && synchronousCommit != "off" && !recovering
	status.Settings = map[string]string{
		"fsync": fsync, "full_page_writes": fullPageWrites, "synchronous_commit": synchronousCommit,
		"synchronous_standby_names": standbys, "in_recovery": strconv.FormatBool(recovering),
	}
	status.Reason = reasonConnected
	var have int32
	if migrated {
		if err := conn.QueryRow(ctx, l.sql.version).Scan(&have); err != nil {
			return fmt.Errorf("read the schema's version: %w", err)
		}
	}
	switch {
	case have > latestVersion:
		status.Reason = reasonSchemaTooNew
		status.Message = (&SchemaTooNewError{Schema: l.options.Schema, Have: have, Want: latestVersion}).Error()
	case have < latestVersion:
		status.Reason = reasonSchemaMissing
		status.Message = fmt.Sprintf("the schema %s is at version %d and this build needs %d: run receiver migrate",
			l.options.Schema, have, latestVersion)
	}
	return nil
}

// Explain puts an error of this package into a reason of receiverstatus.Database and a sentence. Neither has a password:
// pgconn keeps it out of its errors.
func Explain(err error) (reason, message string) {
	var dns *net.DNSError
	var tooNew *SchemaTooNewError
	message = err.Error()
	switch {
	case errors.As(err, &tooNew):
		reason = reasonSchemaTooNew
	case authFailed(err):
		reason = reasonAuthFailed
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = reasonRefused
	case errors.As(err, &dns):
		reason = reasonFailed
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		reason = reasonTimeout
	default:
		reason = reasonFailed
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		message = fmt.Sprintf("%s (SQLSTATE %s)", pgErr.Message, pgErr.Code)
	}
	return reason, storable(message[:min(len(message), maxMessage)])
}
