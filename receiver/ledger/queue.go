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
	maxBatchBytes  = 1 << 20
	// One batch at a time costs least, for it is the larger. Another is for when the first is slow: a crowd has gathered
	// behind it, or it has been away for as long as patience. At most maxWriters are under way.
	crowd      = 64
	patience   = 50 * time.Millisecond
	maxWriters = 4
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
	// took is when the last batch was taken.
	took   time.Time
	closed bool
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

// add puts an event into the queue, and says whether another writer is needed, which the caller then starts.
func (q *queue) add(w *waiting) (start bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, errClosed
	}
	q.waiting = append(q.waiting, w)
	if !q.another() {
		return false, nil
	}
	q.writers++
	q.running.Add(1)
	return true, nil
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
	if len(q.waiting) > 0 {
		return true
	}
	q.writers--
	q.running.Done()
	return false
}

// take moves events to batch, in their order: as many as one may hold, and at least one if there is any.
func (q *queue) take(batch []*waiting) []*waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.took = wallClock()
	size := 0
	for _, w := range q.waiting {
		size += len(w.event.Body) + len(w.event.Payload)
		if len(batch) == maxBatchEvents || (len(batch) > 0 && size > maxBatchBytes) {
			break
		}
		batch = append(batch, w)
	}
	left := copy(q.waiting, q.waiting[len(batch):])
	clear(q.waiting[left:])
	q.waiting = q.waiting[:left]
	return batch
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
	w.timer.Reset(w.sendBy.Sub(wallClock()))
	var err error
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-w.timer.C:
		err = context.DeadlineExceeded
	}
	if q.withdraw(w) {
		return unavailable("wait for a batch", err)
	}
	<-w.done
	return w.err
}
