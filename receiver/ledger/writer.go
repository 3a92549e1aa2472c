// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/receiver"
)

// Events without effects are committed many at once. There is no timer: a writer takes what is there, and the next batch
// forms while that one is under way, so that a single event does not wait, and a crowd shares its commits. What goes wrong
// with a batch is left to the transactions of the single events, as long as it is certain that nothing was committed.

// recordInBatch records the event as one of a batch. errAlone says that nothing has been done with it.
func (l *Ledger) recordInBatch(
	ctx context.Context, commitBy time.Time, event receiver.Event, work receiver.Work,
) (receiver.Receipt, error) {
	w := l.queue.get()
	if err := l.prepare(w, event, work.Destinations); err != nil {
		return receiver.Receipt{}, err
	}
	w.sendBy = commitBy.Add(-commitReserve)
	start, err := l.queue.add(w)
	if err != nil {
		return receiver.Receipt{}, unavailable("record event", err)
	}
	if start {
		// It works for others too, so it does not end with this request.
		go l.write(context.WithoutCancel(ctx))
	}
	err = l.queue.wait(ctx, w)
	receipt := w.receipt
	l.queue.put(w)
	return receipt, err
}

func (l *Ledger) prepare(w *waiting, event receiver.Event, destinations []string) error {
	var err error
	w.event = event
	if w.id, err = uuid.NewV7(); err != nil {
		return fmt.Errorf("make an id: %w", err)
	}
	w.key = idKey(event.ID)
	if event.ClaimBody {
		w.body = bodyKey(event.BodyDigest)
	}
	if w.answer, err = standardAnswer(event.ID); err != nil {
		return err
	}
	if len(destinations) > 0 {
		w.term = l.options.Lease()
		w.outbox, err = newOutbox(&w.event, destinations)
	}
	return err
}

// write works until the queue is empty.
func (l *Ledger) write(ctx context.Context) {
	b := batches.Get().(*batch) //nolint:forcetypeassert // It holds nothing else.
	defer b.release()
	for l.queue.more() {
		l.turn(ctx, b)
		// Those who are about to come should be in the next batch, and not in the one after it.
		runtime.Gosched()
	}
}

// turn takes one batch to the database, when there is a connection for it: until then events can be withdrawn.
func (l *Ledger) turn(ctx context.Context, b *batch) {
	connecting, cancel := context.WithTimeout(ctx, recordTimeout-commitReserve)
	defer cancel()
	conn, err := l.connect(connecting)
	b.taken = l.queue.take(b.taken[:0])
	if err != nil {
		// Each finds out for itself what is wrong, and whether to try again.
		b.finish(b.taken, errAlone)
		return
	}
	defer conn.Release()
	if err := l.sendBatch(ctx, conn, b); err != nil {
		conn.abandon(ctx, err)
		l.prepareRerun(connecting, err)
		if _, unknown := errors.AsType[*unknownOutcomeError](err); !unknown {
			err = errAlone
		}
		b.finish(b.unfinished(), err)
	}
}

// finish gives events their outcome, which is an error.
func (b *batch) finish(events []*waiting, err error) {
	for _, w := range events {
		w.finish(receiver.Receipt{}, err)
	}
}

func (w *waiting) finish(receipt receiver.Receipt, err error) {
	w.receipt, w.err = receipt, err
	w.done <- struct{}{}
}
