// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// pauseBeforeLast is how long a server has to read what it was sent so far; receivers give up on senders that pause longer.
const pauseBeforeLast = 500 * time.Millisecond

// Together sends so many requests at once: first all but the last byte of each, then, when the server has had time to read
// that, the last bytes. A server may tell some to come again; any other answer is an error.
func Together(ctx context.Context, to Target, run uint32, requests int) (*Journal, error) {
	journal := newJournal(run, requests)
	open := make([]*connection, requests)
	deadline := time.Now().Add(2 * grace)
	for i := range open {
		open[i] = newConnection(to, deadline)
		defer open[i].close()
		if err := open[i].open(ctx); err != nil {
			return nil, err
		}
	}
	for i, c := range open {
		c.request.prepare(Number{Run: run, Sender: i}, time.Now())
	}
	err := all(open, func(_ int, c *connection) error {
		_, err := c.conn.Write(c.request.bytes[:len(c.request.bytes)-1])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("send all but the last byte: %w", err)
	}
	if !rest(ctx, pauseBeforeLast) {
		return nil, ctx.Err()
	}
	return journal, all(open, func(i int, c *connection) error {
		_, err := c.conn.Write(c.request.bytes[len(c.request.bytes)-1:])
		status := 0
		if err == nil {
			status, _, err = c.read()
		}
		if err == nil && status != http.StatusOK && status != http.StatusServiceUnavailable {
			err = fmt.Errorf("the request %d was answered %d", i, status)
		}
		journal.note(Number{Run: run, Sender: i}, status)
		return err
	})
}

// all does the same with all connections at once, and returns one of the errors.
func all(open []*connection, do func(int, *connection) error) error {
	failures := make(chan error, len(open))
	var senders sync.WaitGroup
	for i, c := range open {
		senders.Go(func() {
			if err := do(i, c); err != nil {
				failures <- err
			}
		})
	}
	senders.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}
