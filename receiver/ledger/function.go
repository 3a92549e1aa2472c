// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// EffectFunc is an effect in Go. It runs in the transaction that claims the event: what it writes through tx is committed
// with the claim or not at all. It returns its result as JSON, or nil for null. An error undoes everything and the provider
// is asked to retry, unless it is one of Refuse: then the claim is kept and the event is never processed. It must not keep
// tx, nor end the transaction; ctx ends when its time is up.
type EffectFunc func(ctx context.Context, tx pgx.Tx, event receiver.Event) (json.RawMessage, error)

// Refuse is the error with which an EffectFunc refuses an event, now and for ever, as a function in SQL does with SQLSTATE
// HK001. The provider sees the message in a 2xx answer.
func Refuse(message string) error { return &refusedError{message: message} }

type refusedError struct{ message string }

func (e *refusedError) Error() string { return "refused: " + e.message }

// errEnded says that a function has ended the transaction that is not its own.
var errEnded = errors.New("the function ended the transaction")

// errAborted says that a function passed over an error of the database, after which its transaction cannot be committed.
var errAborted = errors.New("the function passed over an error of the database, which aborted the transaction")

// errResult says that a function's result is not JSON.
var errResult = errors.New("the function's result is not JSON")

// callGo calls an effect in Go. To the function the transaction looks like one of its own, in which it may nest others.
func (r *recording) callGo(ctx context.Context, c *call) (string, *refusal, error) {
	const savepoint = "hookonce_function"
	tx, err := r.conn.BeginTx(ctx, pgx.TxOptions{
		BeginQuery: "savepoint " + savepoint, CommitQuery: "release savepoint " + savepoint,
	})
	if err != nil {
		return "", nil, fmt.Errorf("effect %s: %w", c.effect.Name, err)
	}
	text, err := c.function(ctx, tx, r.event)
	switch server := r.conn.Conn.Conn().PgConn(); {
	case server.IsClosed() && ctx.Err() == nil:
		// The connection broke under the function, or the function closed it: nothing is committed, and another run may do.
		return "", nil, fmt.Errorf("effect %s: %w", c.effect.Name, errors.Join(net.ErrClosed, err))
	case server.TxStatus() == 'I':
		return "", nil, c.failed(errors.Join(errEnded, err))
	case server.TxStatus() == 'E' && err == nil:
		return "", nil, c.failed(errAborted)
	}
	if refused, ok := errors.AsType[*refusedError](err); ok {
		refusal, err := r.refuse(ctx, strings.ToValidUTF8(refused.message, "\uFFFD"))
		return "", refusal, err
	}
	if err == nil && len(text) > 0 && !json.Valid(text) {
		err = errResult
	}
	switch {
	case err != nil:
		return "", nil, r.goError(ctx, c, err)
	case len(text) == 0:
		return "null", nil, nil
	}
	return string(text), nil, nil
}

// goError is what the error of a function in Go means. By the state of the transaction, and not by the error alone, for the
// function speaks to other systems too: only what aborted the transaction is told apart as an error of a function in SQL is.
func (r *recording) goError(ctx context.Context, c *call, err error) error {
	switch {
	case r.conn.Conn.Conn().PgConn().TxStatus() == 'E' && database.Code(err) != "":
		return c.sqlError(err)
	case ctx.Err() != nil:
		return &effectError{name: c.effect.Name, function: c.effect.Function, code: codeCanceled, err: err}
	}
	return c.failed(err)
}

// logFailure says why a function in Go failed, once for each event that could not be recorded. Of a server's error it says
// nothing that may quote data; what the function says itself is its own to choose.
func (l *Ledger) logFailure(ctx context.Context, eventID string, err error) {
	if errors.Is(err, errOpen) {
		l.options.Logger.ErrorContext(ctx, "An event cannot be processed: "+errOpen.Error(), "event", eventID)
		return
	}
	failed, ok := errors.AsType[*effectError](err)
	if !ok || l.options.Functions[failed.function] == nil {
		return
	}
	cause := failed.err.Error()
	if server, ok := errors.AsType[*pgconn.PgError](failed.err); ok {
		cause = strings.TrimSpace("SQLSTATE " + server.Code + " " + server.TableName + " " + server.ConstraintName)
	}
	l.options.Logger.ErrorContext(ctx, "An effect in Go failed", "effect", failed.name, "event", eventID, "cause", cause)
}

// failed is the error of a function in Go.
func (c *call) failed(err error) error {
	return &effectError{name: c.effect.Name, function: c.effect.Function, err: err}
}

// refuse undoes the event's work, and leaves the claim.
func (r *recording) refuse(ctx context.Context, message string) (*refusal, error) {
	if _, err := r.conn.Exec(ctx, "rollback to savepoint work"); err != nil {
		return nil, fmt.Errorf("undo a refused event: %w", err)
	}
	return &refusal{message: message}, nil
}

// callTexts are the statements that call one function.
type callTexts struct {
	// statement is of effect_call.sql; settle is of effect_settle.sql, and settleName the name that it is prepared under.
	statement, settle, settleName string
}

// texts returns the statements that call a function; they are made once.
func (l *Ledger) texts(function string) (callTexts, error) {
	if known, ok := l.calls.Load(function); ok {
		return known.(callTexts), nil //nolint:forcetypeassert // It holds nothing else.
	}
	var t callTexts
	var err error
	if t.statement, err = l.sql.call(l.sql.effectCall, function); err != nil {
		return t, err
	}
	if t.settle, err = l.sql.call(l.sql.effectSettle, function); err != nil {
		return t, err
	}
	// Names of statements are shorter than those of functions may be.
	sum := sha256.Sum256([]byte(function))
	t.settleName = "hookonce_settle_" + hex.EncodeToString(sum[:keySize])
	l.calls.Store(function, t)
	return t, nil
}
