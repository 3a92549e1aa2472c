// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// failureKept is how long a failure to write counts against a database that otherwise answers, if nothing is written since.
const failureKept = 5 * time.Minute

// health is what recording events has shown of the database and of the functions.
type health struct {
	mu      sync.Mutex
	failure *writeFailure
	effects map[string]receiverstatus.Effect
}

// writeFailure is the last event that could not be recorded, since the last one that was.
type writeFailure struct {
	at time.Time
	// code is the SQLSTATE; empty if the server did not refuse.
	code string
	// unknown says that the commit's outcome is.
	unknown bool
}

// ended notes how Record ended, and returns the name of the effect that failed, if that was why.
func (h *health) ended(receipt receiver.Receipt, err error, now time.Time) (effect string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		// What is only read says nothing of writing, but does end a doubt about a commit.
		wrote := receipt.Kind == receiver.Processed || receipt.Kind == receiver.Refused
		if wrote || (h.failure != nil && h.failure.unknown) {
			h.failure = nil
		}
		return ""
	}
	if failed, ok := errors.AsType[*effectError](err); ok {
		h.effectFailed(failed, now)
		return failed.name
	}
	if f := refusedWrite(err, now); f != nil {
		h.failure = f
	}
	return ""
}

// refusedWrite is what an error says of a server that can be reached; nil if nothing. What is wrong with reaching it, a
// check finds itself.
func refusedWrite(err error, now time.Time) *writeFailure {
	code := database.Code(err)
	_, listed := rerunCodes[code]
	if listed || errors.Is(err, receiver.ErrInFlight) || authFailed(err) || brokenConnection(err) {
		return nil
	}
	_, unknown := errors.AsType[*unknownOutcomeError](err)
	if code == "" && !unknown {
		return nil
	}
	return &writeFailure{at: now, code: code, unknown: unknown}
}

func (h *health) effectFailed(failed *effectError, now time.Time) {
	if h.effects == nil {
		h.effects = map[string]receiverstatus.Effect{}
	}
	e := h.effects[failed.name]
	if e.Function != failed.function {
		e = receiverstatus.Effect{Name: failed.name, Function: failed.function, Since: now.UTC()}
	}
	e.Code = failed.code
	e.Failures++
	h.effects[failed.name] = e
}

// succeeded notes that the functions of these calls did what they are for.
func (h *health) succeeded(calls []call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range calls {
		if c.won {
			delete(h.effects, c.effect.Name)
		}
	}
}

// writing says why events cannot be recorded although the database answers; both are empty if they can.
func (h *health) writing(now time.Time) (reason, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failure != nil && now.Sub(h.failure.at) > failureKept {
		h.failure = nil
	}
	switch f := h.failure; {
	case f == nil:
		return "", ""
	case f.code == codeDiskFull:
		return reasonDiskFull, "the database has no room left (SQLSTATE " + f.code + ")"
	case f.unknown:
		return reasonWriteFailed, "the last event's commit was not confirmed"
	default:
		return reasonWriteFailed, "the last event could not be written: SQLSTATE " + f.code
	}
}

// unreachable is for when a check has found what is wrong: what writing was like before says nothing of after.
func (h *health) unreachable() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failure = nil
}

// FailingEffects are the effects whose function failed the last time that it was called, by name. Those that are not
// configured, which is a function for each name, are forgotten.
func (l *Ledger) FailingEffects(configured map[string]string) []receiverstatus.Effect {
	l.health.mu.Lock()
	defer l.health.mu.Unlock()
	var failing []receiverstatus.Effect
	for name, e := range l.health.effects {
		if configured[name] != e.Function {
			delete(l.health.effects, name)
			continue
		}
		failing = append(failing, e)
	}
	slices.SortFunc(failing, func(a, b receiverstatus.Effect) int { return cmp.Compare(a.Name, b.Name) })
	return failing
}

// sqlError is what an error that the server answered a call with, or that ended it, leaves the call as.
func (c *call) sqlError(err error) error {
	if failed := c.failure(err); failed != nil {
		return failed
	}
	return fmt.Errorf("effect %s: %w", c.effect.Name, err)
}

// failure is the error of a call if it is the function's, and not one of the server or of the connection.
func (c *call) failure(err error) error {
	var pgErr *pgconn.PgError
	switch {
	case rerunCodes[database.Code(err)] || strings.HasPrefix(database.Code(err), classNoRoom):
	case errors.As(err, &pgErr):
		return &effectError{name: c.effect.Name, function: c.effect.Function, code: pgErr.Code, err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &effectError{name: c.effect.Name, function: c.effect.Function, code: codeCanceled, err: err}
	}
	return nil
}
