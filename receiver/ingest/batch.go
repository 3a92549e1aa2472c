// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/hookonce/hookonce/receiver"
)

// mostAtOnce is how many events of one request are recorded at once, at most: as one after the other, a thousand of them
// would take a thousand commits' time.
const mostAtOnce = 64

// recorded is what has become of one event of several.
type recorded struct {
	at      int
	event   receiver.Event
	receipt receiver.Receipt
	refused *refusal
	err     error
}

// acknowledgeBatch records all of the events, whatever becomes of the others: an event that cannot be recorded must not
// hold up those behind it for ever. The provider is asked to retry if it may help; then those that were recorded are
// duplicates.
func (x *exchange) acknowledgeBatch(ctx context.Context, events []receiver.VerifiedEvent, headers []byte) {
	answers, refusals := x.recordAll(ctx, events, headers)
	var worst *refusal
	for _, refused := range refusals {
		if refused != nil && (worst == nil || worst.status < refused.status) {
			worst = refused
		}
	}
	if worst != nil {
		x.refuse(worst)
		return
	}
	whole := []byte{'['}
	for i, answer := range answers {
		if i > 0 {
			whole = append(whole, ',')
		}
		if !json.Valid(answer.Body) {
			answer.Body = []byte("null")
		}
		whole = append(whole, answer.Body...)
	}
	x.acknowledged(http.StatusOK, append(whole, ']'))
}

// recordAll records the events, several at once, and returns the answer or the refusal of each.
func (x *exchange) recordAll(
	ctx context.Context, events []receiver.VerifiedEvent, headers []byte,
) ([]receiver.Answer, []*refusal) {
	answers, refusals := make([]receiver.Answer, len(events)), make([]*refusal, len(events))
	if len(events) == 0 {
		return answers, refusals
	}
	queues := queuesOf(events)
	workers := 1 + x.handler.helpers.take(min(len(queues), mostAtOnce)-1)
	defer x.handler.helpers.giveBack(workers - 1)
	x.rounds = (len(events) + workers - 1) / workers
	todo, done := make(chan []int, len(queues)), make(chan recorded, len(events))
	for _, queue := range queues {
		todo <- queue
	}
	close(todo)
	var group sync.WaitGroup
	defer group.Wait()
	for range workers {
		group.Go(func() {
			for queue := range todo {
				for _, at := range queue {
					done <- x.recordOne(ctx, at, events[at], headers)
				}
			}
		})
	}
	for range events {
		r := <-done
		x.handler.options.Count(receiver.CountReceived, "")
		answers[r.at], refusals[r.at] = x.settle(r.event, r.receipt, r.refused, r.err)
	}
	return answers, refusals
}

// recordOne records one of several events. Beside the request's own goroutine a panic would end the process.
func (x *exchange) recordOne(ctx context.Context, at int, v receiver.VerifiedEvent, headers []byte) (r recorded) {
	r = recorded{at: at}
	defer func() {
		if cause := recover(); cause != nil {
			x.handler.panicked(cause)
			r.refused = internal
		}
	}()
	r.event = x.event(v, headers)
	r.receipt, r.refused, r.err = x.record(ctx, r.event)
	return r
}

// queuesOf has the places of the events; those of one id are in one queue, as they are recorded one after the other.
func queuesOf(events []receiver.VerifiedEvent) [][]int {
	queues, known := make([][]int, 0, len(events)), make(map[string]int, len(events))
	for i := range events {
		queue, found := known[events[i].ID]
		if !found {
			queue = len(queues)
			known[events[i].ID], queues = queue, append(queues, nil)
		}
		queues[queue] = append(queues[queue], i)
	}
	return queues
}

// helpers bound how many events are recorded at once beside the first of each request: batches get as many as there are,
// and never wait for them.
type helpers struct {
	mu   sync.Mutex
	free int64
}

// take returns how many of those wanted there are.
func (h *helpers) take(wanted int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	given := min(int64(wanted), h.free)
	h.free -= given
	return int(given)
}

func (h *helpers) giveBack(taken int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free += int64(taken)
}
