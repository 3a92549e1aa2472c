// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

const (
	maxRuns    = 3
	rerunPause = 25 * time.Millisecond
	// A day that prune has not made is made on demand, with some to spare.
	partitionsOnDemand = 2
)

// Record claims the event, does its work and commits both in one transaction, or says what became of it before. It
// returns a Receipt only for what is committed; otherwise the provider must be asked to retry: receiver.ErrInFlight if
// another delivery of the event is being processed, and an error that wraps receiver.ErrUnavailable for all else.
//
// Canceling ctx ends the wait for a connection, and nothing after that: a disconnect must not decide about a commit. Its
// deadline does hold, to the end of the commit, for which the last 3 s are kept; without one, or with a later one, all
// takes at most 10 s. After a failure there is at most a second more, to undo what was done.
func (l *Ledger) Record(ctx context.Context, event receiver.Event, work receiver.Work) (receiver.Receipt, error) {
	commitBy := wallClock().Add(recordTimeout)
	if deadline, bounded := ctx.Deadline(); bounded && deadline.Before(commitBy) {
		commitBy = deadline
	}
	var receipt receiver.Receipt
	err := errAlone
	if len(work.Effects) == 0 {
		receipt, err = l.recordInBatch(ctx, commitBy, event, work)
	}
	if errors.Is(err, errAlone) {
		receipt, err = l.recordAlone(ctx, commitBy, event, work)
	}
	if failed := l.health.ended(receipt, err, l.options.Now()); failed != "" && l.options.EffectFailed != nil {
		l.options.EffectFailed(failed)
	}
	l.logFailure(ctx, event.ID, err)
	if err != nil {
		return receiver.Receipt{}, unavailable("record event", err)
	}
	return receipt, nil
}

// recordAlone records the event in a transaction of its own, and again if that is safe and may help.
func (l *Ledger) recordAlone(
	ctx context.Context, commitBy time.Time, event receiver.Event, work receiver.Work,
) (receiver.Receipt, error) {
	waiting, stopWaiting := context.WithDeadline(ctx, commitBy.Add(-commitReserve))
	defer stopWaiting()
	working, stopWorking := context.WithDeadline(context.WithoutCancel(ctx), commitBy.Add(-commitReserve))
	defer stopWorking()

	leave, err := l.flights.enter(waiting, event.ID, lockTimeout)
	if err != nil {
		return receiver.Receipt{}, err
	}
	settled := false
	// Also after a panic: the next delivery of the event must not wait for this one for ever.
	defer func() { leave(settled) }()
	var receipt receiver.Receipt
	for run := range maxRuns {
		receipt, err = l.recordOnce(waiting, working, commitBy, event, work)
		if err == nil || !rerunnable(err) || run == maxRuns-1 || !pause(working, run) {
			break
		}
		l.prepareRerun(working, err)
	}
	settled = err == nil
	return receipt, err
}

// recordOnce waits for a connection until waiting ends, works until ctx ends, and has committed by commitBy.
func (l *Ledger) recordOnce(
	waiting, ctx context.Context, commitBy time.Time, event receiver.Event, work receiver.Work,
) (receiver.Receipt, error) {
	conn, err := l.connect(waiting)
	if err != nil {
		return receiver.Receipt{}, err
	}
	defer conn.Release()
	r, err := l.newRecording(ctx, conn, event, work)
	if err != nil {
		// What it needs of the schema may be gone.
		conn.abandon(ctx, err)
		return receiver.Receipt{}, err
	}
	r.commitBy = commitBy
	receipt, err := r.run(ctx)
	if err != nil {
		conn.abandon(ctx, err)
	}
	return receipt, err
}

// recording is one run of the transaction for one event.
type recording struct {
	l     *Ledger
	conn  *connection
	event receiver.Event
	work  receiver.Work
	id    uuid.UUID
	scope int32
	// commitBy is when the commit must have been answered.
	commitBy time.Time
	// candidate is what it is if another event is found to have its claim, and keys are the candidate's.
	candidate candidate
	keys      [][]byte
	calls     []call
	outbox    []receiver.Delivery
	results   []result
}

func (l *Ledger) newRecording(ctx context.Context, conn *connection, event receiver.Event, work receiver.Work) (*recording, error) {
	id, err := l.ids.next(wallClock())
	if err != nil {
		return nil, err
	}
	r := &recording{l: l, conn: conn, event: event, work: work, id: id}
	r.candidate = candidate{event: &r.event, id: id, key: idKey(event.ID)}
	r.keys = [][]byte{r.candidate.key[:]}
	if event.ClaimBody {
		r.candidate.body = bodyKey(event.BodyDigest)
		r.keys = append(r.keys, r.candidate.body[:])
	}
	if r.scope, err = l.endpoint(ctx, conn); err != nil {
		return nil, err
	}
	if r.calls, err = l.prepareCalls(ctx, conn, event, work.Effects); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *recording) run(ctx context.Context) (receiver.Receipt, error) {
	if r.quickly() {
		if receipt, err := r.recordedQuickly(ctx); !errors.Is(err, errStepByStep) {
			return receipt, err
		}
	}
	won, err := r.claim(ctx)
	if err != nil {
		return receiver.Receipt{}, err
	}
	if !won {
		return r.loser(ctx)
	}
	if err := r.store(ctx); err != nil {
		return receiver.Receipt{}, err
	}
	refused, err := r.callEffects(ctx)
	if err != nil {
		return receiver.Receipt{}, err
	}
	return r.finish(ctx, refused)
}

// finish stores the answer, if it is not the standard one, and commits.
func (r *recording) finish(ctx context.Context, refused *refusal) (receiver.Receipt, error) {
	receipt := receiver.Receipt{Kind: receiver.Processed, Deliveries: r.outbox}
	state := stateProcessed
	var err error
	if refused != nil {
		receipt.Kind, receipt.Deliveries, state = receiver.Refused, nil, stateRefused
		receipt.Answer, err = refusedAnswer(r.event.ID, refused.message)
	} else {
		receipt.Answer, err = processedAnswer(r.event.ID, r.results)
	}
	if err != nil {
		return receiver.Receipt{}, err
	}
	if err := r.commit(ctx, state, receipt.Answer); err != nil {
		return receiver.Receipt{}, err
	}
	if refused == nil {
		r.l.health.succeeded(r.calls)
	}
	return receipt, nil
}

// pause waits a little longer each time, with jitter, and says whether there is time left.
func pause(ctx context.Context, run int) bool {
	span := rerunPause << run
	timer := time.NewTimer(span/2 + rand.N(span)) //nolint:gosec // Jitter is no secret.
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// prepareRerun removes what made the last run fail, as far as that is ours. What does not work is found by the next run.
func (l *Ledger) prepareRerun(ctx context.Context, cause error) {
	switch {
	case missingPartition(cause):
		if err := l.makePartitions(ctx); err != nil {
			l.options.Logger.ErrorContext(ctx, "A day's partition is missing and cannot be made", "error", err)
		}
	case database.Code(cause) == codeNoStatement, database.Code(cause) == codeDuplicateStatement:
		t := l.db.current.Load()
		t.preparing.Pooled()
		t.pool.Reset()
	case database.Code(cause) == codeReadOnly:
		// The other connections in the pool lead to the same demoted server.
		l.db.current.Load().pool.Reset()
	}
}

func (l *Ledger) makePartitions(ctx context.Context) error {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, l.sql.partitions, partitionsOnDemand); err != nil {
		return fmt.Errorf("make partitions: %w", err)
	}
	return nil
}

// abandon rolls back what an error left open. A connection whose trouble may last is closed: the next run gets another.
func (c *connection) abandon(ctx context.Context, cause error) {
	if database.Code(cause) == database.CodeNoTable || errors.Is(cause, errGone) {
		c.target.forget()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonTimeout)
	defer cancel()
	if badConnection(cause) {
		_ = c.Conn.Conn().Close(ctx)
		return
	}
	if c.Conn.Conn().PgConn().TxStatus() != 'I' {
		// If this fails the pool destroys the connection, and the server rolls back.
		_, _ = c.Exec(ctx, "rollback")
	}
}
