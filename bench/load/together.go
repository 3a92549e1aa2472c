// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Together sends so many requests at once: first all but the last byte of each, then, when the server has had time to read
// that, the last bytes. It fails unless all are acknowledged.
func Together(ctx context.Context, to Target, run uint32, requests int) (*Journal, error) {
	journal := newJournal(run, requests)
	open := make([]*connection, requests)
	deadline := time.Now().Add(2 * grace)
	for i := range open {
		c := newConnection(to, deadline)
		defer c.close()
		if err := c.open(ctx); err != nil {
			return nil, err
		}
		c.request.prepare(Number{Run: run, Sender: i}, time.Now())
		if _, err := c.conn.Write(c.request.bytes[:len(c.request.bytes)-1]); err != nil {
			return nil, fmt.Errorf("send the request %d: %w", i, err)
		}
		open[i] = c
	}
	if !rest(ctx, time.Second) {
		return nil, ctx.Err()
	}
	failures := make([]error, requests)
	var senders sync.WaitGroup
	for i, c := range open {
		senders.Go(func() {
			_, err := c.conn.Write(c.request.bytes[len(c.request.bytes)-1:])
			status := 0
			if err == nil {
				status, _, err = c.read()
			}
			if err == nil && status != 200 {
				err = fmt.Errorf("the request %d was answered %d", i, status)
			}
			journal.note(Number{Run: run, Sender: i}, status)
			failures[i] = err
		})
	}
	senders.Wait()
	return journal, errors.Join(failures...)
}
