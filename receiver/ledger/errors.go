// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// The SQLSTATEs that decide something.
const (
	codeRefused        = "HK001"
	codeNoPartition    = "23514"
	codeReadOnly       = "25006"
	codeWrongPassword  = "28P01"
	codeNoLogin        = "28000"
	codeDivisionByZero = "22012"
	codeDiskFull       = "53100"
	classNoRoom        = "53"
	codeCanceled       = "57014"
	severityFatal      = "FATAL"
	// A pooler that is not known as one has sent what was prepared to another session.
	codeNoStatement        = "26000"
	codeDuplicateStatement = "42P05"
)

// rerunCodes say that the transaction did nothing and may do better if it is run again as a whole. True: on another
// connection, because this one leads to a server that will not do it.
var rerunCodes = map[string]bool{
	"40001":      false, // serialization_failure
	"40P01":      false, // deadlock_detected
	"57P01":      true,  // admin_shutdown
	"57P02":      true,  // crash_shutdown
	"57P03":      true,  // cannot_connect_now
	"53300":      true,  // too_many_connections
	codeReadOnly: true,

	codeNoStatement: true, codeDuplicateStatement: true,
}

// errGone says that a claim or an effect that was there is there no longer, because pruning removed it in between, or that
// a scope is not what it was, because the ledger was put back to an earlier state.
var errGone = errors.New("the row that won was pruned meanwhile, or the ledger was restored")

// unknownOutcomeError says that a commit was sent and its answer did not arrive.
type unknownOutcomeError struct{ err error }

func (e *unknownOutcomeError) Error() string {
	return "the outcome of the commit is unknown: " + e.err.Error()
}
func (e *unknownOutcomeError) Unwrap() error { return e.err }

// effectError says that a user's function failed. Its text has no message of the database: that may quote data. It is
// receiver.ErrUnavailable to callers, because the provider must retry, and does not say so: the ledger was there.
type effectError struct {
	name, function, code string
	err                  error
}

func (e *effectError) Error() string {
	if e.code == "" {
		return fmt.Sprintf("effect %s: function %s failed", e.name, e.function)
	}
	return fmt.Sprintf("effect %s: function %s failed with SQLSTATE %s", e.name, e.function, e.code)
}
func (e *effectError) Unwrap() error { return e.err }

// Is makes it receiver.ErrUnavailable.
func (e *effectError) Is(target error) bool { return target == receiver.ErrUnavailable }

func authFailed(err error) bool {
	c := database.Code(err)
	return c == codeWrongPassword || c == codeNoLogin
}

// missingPartition says that a row had no partition to go to. Of all check violations only that one names the parent
// table and no constraint.
func missingPartition(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == codeNoPartition && pgErr.ConstraintName == "" &&
		(pgErr.TableName == "event" || pgErr.TableName == "attempt")
}

// rerunnable says whether running the whole transaction again is safe and may help.
func rerunnable(err error) bool {
	if _, unknown := errors.AsType[*unknownOutcomeError](err); unknown || functionFailed(err) {
		return false
	}
	_, listed := rerunCodes[database.Code(err)]
	return listed || errors.Is(err, errGone) || missingPartition(err) || brokenConnection(err) || pgconn.SafeToRetry(err)
}

// badConnection says that a connection is of no more use after an error.
func badConnection(err error) bool {
	_, unknown := errors.AsType[*unknownOutcomeError](err)
	return unknown || !functionFailed(err) && (rerunCodes[database.Code(err)] || brokenConnection(err))
}

// rolledBack says that an error in answer to a commit means that nothing was committed. A fatal error does not: the
// server may have ended the session after it committed.
func rolledBack(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.SeverityUnlocalized != severityFatal && !strings.HasPrefix(pgErr.Code, "08")
}

// undone says that the transaction is rolled back for certain, although its commit has been sent. The server itself says so
// with any error about a statement before the commit; a pooler may say it of a connection that it has lost.
func (c *connection) undone(err error, beforeCommit bool) bool {
	if rolledBack(err) || notSent(err) {
		return true
	}
	return beforeCommit && c.direct() && database.Code(err) != ""
}

// notSentError says that a transaction failed before anything of it was sent.
type notSentError struct{ err error }

func (e *notSentError) Error() string { return e.err.Error() }
func (e *notSentError) Unwrap() error { return e.err }

// notSent says that nothing of what was to be sent has been.
func notSent(err error) bool {
	_, unsent := errors.AsType[*notSentError](err)
	return unsent || pgconn.SafeToRetry(err)
}

// functionFailed says that the error is a function's own: what it says of other connections and databases is not about ours.
func functionFailed(err error) bool {
	_, failed := errors.AsType[*effectError](err)
	return failed
}

// brokenConnection says that the connection ended under the transaction, which the server then rolls back.
func brokenConnection(err error) bool {
	for _, broken := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, pgconn.ErrConnClosed, syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}

// unavailable is how every failure of the database leaves the package.
func unavailable(doing string, err error) error {
	if errors.Is(err, receiver.ErrUnavailable) || errors.Is(err, receiver.ErrInFlight) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", doing, receiver.ErrUnavailable, err)
}
