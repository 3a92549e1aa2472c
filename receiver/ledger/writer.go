// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// Events without effects are committed many at once. There is no timer: a writer takes what is there, and the next batch
// forms while that one is under way, so that a single event does not wait, and a crowd shares its commits. A batch that did
// nothing for certain is sent again, if that may help, then in parts; what is left goes through transactions of single
// events.

// A batch that the server refused is sent again in parts of partEvents; after maxRefused parts were refused too, the rest
// goes alone. So one event that is refused, or is being processed elsewhere, costs its neighbors two waits.
const (
	partEvents = 16
	maxRefused = 2
)

// recordInBatch records the event as one of a batch. errAlone says that nothing has been done with it.
func (l *Ledger) recordInBatch(
	ctx context.Context, commitBy time.Time, event receiver.Event, work receiver.Work,
) (receiver.Receipt, error) {
	w := l.queue.get()
	if err := l.prepare(w, event, &work); err != nil {
		return receiver.Receipt{}, err
	}
	w.sendBy = commitBy.Add(-commitReserve)
	if err := l.queue.add(w); err != nil {
		return receiver.Receipt{}, unavailable("record event", err)
	}
	err := l.queue.wait(ctx, w)
	receipt := w.receipt
	l.queue.put(w)
	return receipt, err
}

func (l *Ledger) prepare(w *waiting, event receiver.Event, work *receiver.Work) error {
	var err error
	w.event = event
	if w.id, err = l.ids.next(wallClock()); err != nil {
		return err
	}
	w.key = idKey(event.ID)
	if event.ClaimBody {
		w.body = bodyKey(event.BodyDigest)
	}
	if w.answer, err = standardAnswer(event.ID); err != nil {
		return err
	}
	if len(work.Destinations) > 0 {
		w.term = l.options.Lease()
		w.outbox, err = l.newOutbox(&w.event, work)
	}
	return err
}

// write works until the queue is empty.
func (l *Ledger) write(ctx context.Context) {
	b := batches.Get().(*batch) //nolint:forcetypeassert // It holds nothing else.
	defer b.release()
	for l.queue.more() {
		l.turn(ctx, b)
		if l.queue.few() {
			// Those who are about to come should be in the next batch, and not in the one after it.
			runtime.Gosched()
		}
	}
}

// turn takes one batch to the database, when there is a connection for it: until then events can be withdrawn.
func (l *Ledger) turn(ctx context.Context, b *batch) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	connecting, connected := context.WithTimeout(ctx, recordTimeout-commitReserve)
	conn, err := l.connect(connecting)
	connected()
	l.queue.take(b)
	defer l.queue.release(b)
	if err != nil {
		// Each finds out for itself what is wrong, and whether to try again.
		b.finish(b.taken, errAlone)
		return
	}
	if err := l.attempt(ctx, conn, b); err != nil {
		l.again(ctx, b, err)
	}
}

// attempt sends what was taken, and gives the connection back. After an error, only those that have no outcome are taken.
func (l *Ledger) attempt(ctx context.Context, conn *connection, b *batch) error {
	defer conn.Release()
	err := l.sendBatch(ctx, conn, b)
	if err != nil {
		conn.abandon(ctx, err)
	}
	b.taken = append(b.taken[:0], b.unfinished()...)
	b.sent, b.behind = b.sent[:0], b.behind[:0]
	return err
}

// again does what can be done for the events of a batch that failed, while each of them has time to be sent alone.
func (l *Ledger) again(ctx context.Context, b *batch, err error) {
	sendBy := b.sendBy()
	ctx, cancel := context.WithDeadline(ctx, sendBy.Add(commitReserve))
	defer cancel()
	waiting, stopWaiting := context.WithDeadline(ctx, sendBy)
	defer stopWaiting()
	for run := 0; rerunnable(err) && run < maxRuns-1 && len(b.taken) > 0 && pause(waiting, run); run++ {
		l.prepareRerun(waiting, err)
		err = l.onAnother(waiting, ctx, b)
	}
	switch _, unknown := errors.AsType[*unknownOutcomeError](err); {
	case unknown:
		b.finish(b.taken, err)
	case refused(err) && len(b.taken) > 1:
		l.inParts(waiting, ctx, b)
	default:
		b.finish(b.taken, errAlone)
	}
}

// onAnother waits for a connection until waiting ends, and sends on it what was taken.
func (l *Ledger) onAnother(waiting, ctx context.Context, b *batch) error {
	conn, err := l.connect(waiting)
	if err != nil {
		return err
	}
	return l.attempt(ctx, conn, b)
}

// inParts sends what was taken a few at a time.
func (l *Ledger) inParts(waiting, ctx context.Context, b *batch) {
	rest, failures := slices.Clone(b.taken), 0
	for part := range slices.Chunk(rest, min(partEvents, (len(rest)+1)/2)) {
		err := errAlone
		b.taken = append(b.taken[:0], part...)
		if failures < maxRefused {
			err = l.onAnother(waiting, ctx, b)
		}
		if err == nil {
			continue
		}
		failures++
		if _, unknown := errors.AsType[*unknownOutcomeError](err); !unknown {
			err = errAlone
		}
		b.finish(b.taken, err)
	}
	b.taken = b.taken[:0]
}

// refused says that the server refused a batch for something in it, and at once.
func refused(err error) bool {
	code := database.Code(err)
	return code != "" && code != codeCanceled && !rerunnable(err)
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
