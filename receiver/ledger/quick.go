// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// An event with one SQL function, which nearly all events with effects are, is recorded in one round trip: everything is
// sent at once, and each statement does nothing unless the event has won its claim. What that cannot do, such as to keep
// the claim of an event that the function refuses, is done step by step afterwards, as the server has undone it all.

// errStepByStep says that nothing has been done, and that the event is to be recorded step by step.
var errStepByStep = errors.New("the event is recorded step by step")

// quick is one attempt to record an event in one round trip.
type quick struct {
	r *recording
	p *parameters
	// outbox are the event's deliveries.
	outbox []receiver.Delivery
	// won says that the event has won its claim, and result is then its answer.
	won    bool
	result []byte
}

// quickBytes is how large an event for it may be: it is sent twice, to the table and to the function.
const quickBytes = 64 << 10

// The steps of a quick recording that errors are told apart by.
const (
	quickClaim  = 1
	quickEffect = 2
)

// quickly says whether the event is one for it.
func (r *recording) quickly() bool {
	return len(r.calls) == 1 && !r.calls[0].guarded && r.calls[0].function == nil &&
		len(r.event.Body)+len(r.event.Payload)+len(r.event.Headers) <= quickBytes
}

func (r *recording) runQuickly(ctx context.Context) (receiver.Receipt, error) {
	q := &quick{r: r, p: quickParameters.Get().(*parameters)} //nolint:forcetypeassert // It holds nothing else.
	defer q.p.release()
	// The function has as long as it would have step by step.
	left := statementTimeout
	if workBy, bounded := ctx.Deadline(); bounded {
		left = max(min(left, workBy.Sub(wallClock())), time.Millisecond)
	}
	if err := q.fill(left); err != nil {
		return receiver.Receipt{}, err
	}
	if err := q.send(ctx, q.steps()); err != nil {
		return receiver.Receipt{}, err
	}
	if !q.won {
		start := beginSteps(r.l.sql, r.l.settings)
		found, err := r.l.committed(ctx, r.conn, r.scope, r.keys, start[:], rollbackStatement)
		if err != nil {
			return receiver.Receipt{}, err
		}
		return r.candidate.judge(found)
	}
	r.l.health.succeeded(r.calls)
	answer := receiver.Answer{Status: int(statusOK), Body: q.result}
	return receiver.Receipt{Kind: receiver.Processed, Answer: answer, Deliveries: q.outbox}, nil
}

// steps are all statements of the transaction.
func (q *quick) steps() []step {
	r, sql := q.r, q.r.l.sql
	won := func(row [][]byte) error {
		q.won = row[0] != nil
		return nil
	}
	claim := step{name: "hookonce_quick", text: sql.quick, values: q.p.claim, read: won}
	if r.event.ClaimBody {
		claim.name, claim.text = "hookonce_quick_body", sql.quickBody
	}
	steps := append(make([]step, 0, 8),
		step{name: "hookonce_begin", text: beginStatement},
		claim,
		step{
			name: r.calls[0].settleName, text: r.calls[0].settle, values: q.p.settle,
			read: func(row [][]byte) error {
				q.result = append([]byte(nil), row[0]...)
				return nil
			},
		})
	if r.event.ClaimBody {
		steps = append(steps, step{name: "hookonce_settle_body", text: sql.effectSettleBody, values: q.p.settleBody})
	}
	return append(steps,
		step{name: "hookonce_constraints", text: constraintsStatement},
		step{name: "hookonce_reset", text: resetStatement},
		step{name: "hookonce_durable", text: sql.durable, values: r.l.settings[1:2], textual: true},
		// Functions may warn as they like, until here.
		step{name: "hookonce_commit", text: commitStatement, before: r.conn.forgetWarning})
}

// send runs the steps to the end of the commit.
func (q *quick) send(ctx context.Context, steps []step) error {
	r := q.r
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), r.commitBy)
	defer cancel()
	tag, failed, err := r.conn.run(ctx, steps)
	if err != nil {
		return q.judge(err, failed, len(steps)-1)
	}
	if err := r.conn.warning(); err != nil {
		return &unknownOutcomeError{err: err}
	}
	if tag.String() != "COMMIT" {
		return fmt.Errorf("commit: the server answered %s", tag)
	}
	if q.won == (q.result == nil) {
		return &unknownOutcomeError{err: errUnreadable}
	}
	return nil
}

// judge says what an error means, by the step that failed.
func (q *quick) judge(err error, failed, commit int) error {
	if !q.r.conn.undone(err, failed < commit) {
		return &unknownOutcomeError{err: err}
	}
	switch code := database.Code(err); {
	case failed == quickClaim && code == database.CodeLockTimeout:
		return fmt.Errorf("claim: %w: %w", receiver.ErrInFlight, err)
	case failed == quickClaim && code == codeDivisionByZero, failed == quickEffect && code == codeRefused:
		return errStepByStep
	case failed > quickClaim && failed < commit:
		if function := q.r.calls[0].failure(err); function != nil {
			return function
		}
	}
	return fmt.Errorf("record: %w", err)
}

// recordedQuickly tries, and leaves the connection as it was found if the event is to be recorded step by step.
func (r *recording) recordedQuickly(ctx context.Context) (receiver.Receipt, error) {
	receipt, err := r.runQuickly(ctx)
	if errors.Is(err, errStepByStep) && r.conn.Conn.Conn().PgConn().TxStatus() != 'I' {
		if _, err := r.conn.Exec(ctx, rollbackStatement, pgx.QueryExecModeExec); err != nil {
			return receipt, fmt.Errorf("record step by step: %w", err)
		}
	}
	return receipt, err
}
