// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/receiver"
)

// Limits of one batch. A larger one would not be cheaper for each event, and would hold more memory and answer later.
const (
	maxBatchEvents = 256
	maxBatchBytes  = 256 << 10
	// One batch at a time costs least, for it is the larger. Another is for when the first is slow: a crowd has gathered
	// behind it, or it has been away for as long as patience. At most maxWriters are under way.
	crowd      = 64
	patience   = 50 * time.Millisecond
	maxWriters = 4
	// enough events are worth a batch at once: while others are waited for, the database has nothing to do.
	enough = 16
)

// errAlone says that the event has not been recorded as one of a batch, and is to go through a transaction of its own.
var errAlone = errors.New("the event goes through a transaction of its own")

// waiting is one event in the queue, and what became of it. It is used again and again.
type waiting struct {
	event  receiver.Event
	id     uuid.UUID
	key    claimKey
	body   claimKey
	answer receiver.Answer
	outbox []receiver.Delivery
	term   time.Duration
	// sendBy is when the event must have been sent, so that the commit's share of its time is left.
	sendBy time.Time

	// taken says that a batch has it; the queue's lock guards it.
	taken bool

	receipt receiver.Receipt
	err     error
	// done has one place, so that nobody waits to put the outcome in.
	done  chan struct{}
	timer *time.Timer
}

// queue holds the events that no batch has taken yet.
type queue struct {
	mu      sync.Mutex
	waiting []*waiting
	writers int
	// busy are the keys of the batches under way. A copy of one of their events waits for the end of its batch here: in the
	// database it would make its own batch wait.
	busy map[claimKey]struct{}
	// took is when the last batch was taken.
	took   time.Time
	closed bool
	// write is what a writer does.
	write func()
	// running are the writers; close waits for them.
	running sync.WaitGroup
	pool    sync.Pool
}

func (q *queue) get() *waiting {
	if w, reused := q.pool.Get().(*waiting); reused {
		return w
	}
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &waiting{done: make(chan struct{}, 1), timer: timer}
}

// put gives back one that is in no queue and in no batch.
func (q *queue) put(w *waiting) {
	w.timer.Stop()
	*w = waiting{done: w.done, timer: w.timer}
	q.pool.Put(w)
}

// wallClock is the clock that deadlines of contexts and timers go by, which Options.Now is not.
func wallClock() time.Time { return time.Now() } //nolint:forbidigo // what deadlines of contexts are measured with

// add puts an event into the queue, and starts another writer if one is needed.
func (q *queue) add(w *waiting) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed
	}
	q.waiting = append(q.waiting, w)
	q.start(w)
	return nil
}

// start starts another writer if the event needs one.
func (q *queue) start(w *waiting) {
	if !q.another() || q.held(w) {
		return
	}
	q.writers++
	q.running.Add(1)
	go q.write()
}

// another says whether the writers there are do not suffice.
func (q *queue) another() bool {
	switch q.writers {
	case 0:
		return true
	case maxWriters:
		return false
	}
	return (q.writers == 1 && len(q.waiting) >= crowd) || wallClock().Sub(q.took) > patience
}

// held says that a batch under way has a key of the event. Its writer looks again when that is done.
func (q *queue) held(w *waiting) bool {
	_, held := q.busy[w.key]
	if !held && w.event.ClaimBody {
		_, held = q.busy[w.body]
	}
	return held
}

// remind starts another writer for an event that has waited for a while; it says false if a batch has it.
func (q *queue) remind(w *waiting) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.taken {
		return false
	}
	q.start(w)
	return true
}

// withdraw takes an event out again; it says false if a batch has it.
func (q *queue) withdraw(w *waiting) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// more says whether there is something to do; if not, the writer that asks ends.
func (q *queue) more() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		if !q.held(w) {
			return true
		}
	}
	q.writers--
	q.running.Done()
	return false
}

// few says that the next batch would be a small one.
func (q *queue) few() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) < enough
}

// take moves events to batch, in their order: as many as one may hold, and at least one if there is any that no batch under
// way holds. Their keys are busy from then on, until release.
func (q *queue) take(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.took = wallClock()
	b.taken = b.taken[:0]
	size, left, full := 0, q.waiting[:0], false
	for _, w := range q.waiting {
		if !full && !q.held(w) {
			size += len(w.event.Body) + len(w.event.Payload)
			full = len(b.taken) == maxBatchEvents || (len(b.taken) > 0 && size > maxBatchBytes)
			if !full {
				w.taken = true
				b.taken = append(b.taken, w)
				continue
			}
		}
		left = append(left, w)
	}
	clear(q.waiting[len(left):])
	q.waiting = left
	q.hold(b)
}

// hold makes the keys of what was taken busy. The batch keeps them: who waits for an event may have used it for another by
// the time of release.
func (q *queue) hold(b *batch) {
	if q.busy == nil {
		q.busy = map[claimKey]struct{}{}
	}
	b.held = b.held[:0]
	for _, w := range b.taken {
		b.held = append(b.held, w.key)
		if w.event.ClaimBody {
			b.held = append(b.held, w.body)
		}
	}
	for _, key := range b.held {
		q.busy[key] = struct{}{}
	}
}

// release is for when all events of the batch have their outcome.
func (q *queue) release(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, key := range b.held {
		delete(q.busy, key)
	}
}

// close lets nothing more in, and waits until what is in is done.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.running.Wait()
}

// wait returns when the event is done, or has been withdrawn because ctx ended or its time was up before a batch had it.
func (q *queue) wait(ctx context.Context, w *waiting) error {
	for {
		left := w.sendBy.Sub(wallClock())
		w.timer.Reset(min(left, patience))
		var err error
		select {
		case <-w.done:
			return w.err
		case <-ctx.Done():
			err = ctx.Err()
		case <-w.timer.C:
			if left > patience {
				if q.remind(w) {
					continue
				}
				<-w.done
				return w.err
			}
			err = context.DeadlineExceeded
		}
		if q.withdraw(w) {
			return unavailable("wait for a batch", err)
		}
		<-w.done
		return w.err
	}
}
