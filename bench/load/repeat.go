// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Repeat sends the same requests each time that it is called with the same run: so many of each sender, all at once. It
// fails unless all are acknowledged.
func Repeat(ctx context.Context, to Target, run uint32, senders, each int) error {
	open := make([]*connection, senders)
	for i := range open {
		open[i] = newConnection(to, time.Now().Add(2*grace))
		defer open[i].close()
	}
	return all(open, func(i int, c *connection) error {
		for k := range each {
			status, err := c.exchange(ctx, Number{Run: run, Sender: i, Sequence: k}, time.Now())
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("the request %d of sender %d was answered %d", k, i, status)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
