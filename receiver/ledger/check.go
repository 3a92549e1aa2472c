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
	reasonWriteFailed   = "WriteFailed"
	reasonDiskFull      = "DiskFull"
	reasonFailed        = "Failed"
)

const maxMessage = 300

// Check connects and says how the database is: whether it answers, has the schema that this build writes to, and took the
// last event, which together make it usable, and whether it keeps what it acknowledges. It takes at most 5 s.
func (l *Ledger) Check(ctx context.Context) receiverstatus.Database {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	status := receiverstatus.Database{Checked: l.options.Now().UTC()}
	conn, err := l.db.acquire(ctx)
	if err != nil {
		l.health.unreachable()
		status.Reason, status.Message = Explain(err)
		return status
	}
	defer conn.Release()
	if err := l.readSettings(ctx, conn, &status); err != nil {
		conn.abandon(ctx, err)
		l.health.unreachable()
		status.Reason, status.Message = Explain(err)
		return status
	}
	if status.Reason, status.Message = l.health.writing(l.options.Now()); status.Reason != "" {
		return status
	}
	status.Reachable, status.Reason = true, reasonConnected
	if err := l.db.trouble(); err != nil {
		status.Message = "the new connection URI cannot be used, and the one before it stays in force: " + err.Error()
	}
	return status
}

// readSettings fills in what it can; its errors are those of the database, and of a schema that cannot be written to.
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
	status.Durable = fsync == "on" && fullPageWrites == "on" && synchronousCommit != "off" && !recovering
	status.Settings = map[string]string{
		"fsync": fsync, "full_page_writes": fullPageWrites, "synchronous_commit": synchronousCommit,
		"synchronous_standby_names": standbys, "in_recovery": strconv.FormatBool(recovering),
	}
	if !migrated {
		conn.target.forget()
		return l.judge(conn.target, 0)
	}
	return l.admit(ctx, conn)
}

// Explain puts an error of this package into a reason of receiverstatus.Database and a sentence. Neither has a password:
// package database keeps URIs out of its errors, and pgconn the password out of those of a connection.
func Explain(err error) (reason, message string) {
	var dns *net.DNSError
	var tooNew *SchemaTooNewError
	var missing *SchemaMissingError
	message = err.Error()
	switch {
	case errors.As(err, &tooNew):
		reason = reasonSchemaTooNew
	case errors.As(err, &missing):
		reason = reasonSchemaMissing
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
