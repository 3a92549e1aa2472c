// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"net/http"
	"time"
)

// A body may pause for bodyGrace at most, and comes with bodyRate bytes a second on average once the grace is used up.
const (
	bodyGrace = 2 * time.Second
	bodyRate  = 64 << 10
)

// pace is the moment by which more of a body must have arrived. It moves with the bytes that arrive, but never further than
// bodyGrace ahead: who sends all bytes but one at once has not earned the time that they would have been worth.
type pace struct {
	deadline, last time.Time
}

// newPace starts at now; whatever arrives, the body ends within ReadTimeout.
func newPace(now time.Time) pace {
	return pace{deadline: now.Add(bodyGrace), last: now.Add(ReadTimeout)}
}

// advance takes account of n bytes more that have arrived by now.
func (p *pace) advance(now time.Time, n int) {
	p.deadline = p.deadline.Add(time.Duration(n) * time.Second / bodyRate)
	for _, bound := range []time.Time{now.Add(bodyGrace), p.last} {
		if p.deadline.After(bound) {
			p.deadline = bound
		}
	}
}

// behind says whether less has arrived than a sender at the pace would have sent, by more than lag.
func (p *pace) behind(now time.Time) bool { return p.deadline.Sub(now) < bodyGrace-lag }

// readBy sets the moment at which reading from the connection fails. Writers without deadlines, as in tests, have no
// connection that could stall.
func (x *exchange) readBy(deadline time.Time) {
	if w, ok := x.w.(interface{ SetReadDeadline(time.Time) error }); ok {
		// What net/http's own writer does, without an allocation for asking.
		_ = w.SetReadDeadline(deadline)
		return
	}
	_ = http.NewResponseController(x.w).SetReadDeadline(deadline)
}

// wallClock is the network's clock: deadlines of connections are by it, whatever the handler's is.
func wallClock() time.Time {
	return time.Now() //nolint:forbidigo // see above
}
