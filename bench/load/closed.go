// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// grace is how long after the end of a run an answer is still waited for.
const grace = 30 * time.Second

// Plan is what to send.
type Plan struct {
	Target Target
	// Run names the run in its event ids; it fits into 24 bits.
	Run uint32
	// Connections that are kept open.
	Connections int
	// Warmup is how long to send before anything is counted, and Measure how long after that.
	Warmup, Measure time.Duration
	// Begin is called when counting begins, and End when it ends. They may be nil.
	Begin, End func()
}

// Result is what was measured.
type Result struct {
	// Rate is how many requests were acknowledged a second.
	Rate float64
	// Latency is in nanoseconds, of acknowledged requests; Refusals of those that were answered otherwise.
	Latency, Refusals *hdrhistogram.Histogram
	// Statuses counts the answers by their status; 0 stands for none.
	Statuses map[int]int64
	Journal  *Journal
	// Failure is one of the errors of requests without an answer.
	Failure error
}

// NewHistogram holds up to a minute, in nanoseconds, with 3 significant figures.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Minute), 3)
}

// tally is what one sender counts.
type tally struct {
	latency, refusals *hdrhistogram.Histogram
	statuses          map[int]int64
	failure           error
}

func newTally() *tally {
	return &tally{latency: NewHistogram(), refusals: NewHistogram(), statuses: map[int]int64{}}
}

func (t *tally) add(status int, latency time.Duration, err error) {
	t.statuses[status]++
	switch {
	case err != nil:
		t.failure = err
	case status/100 == 2:
		_ = t.latency.RecordValue(min(int64(latency), int64(time.Minute)))
	default:
		_ = t.refusals.RecordValue(min(int64(latency), int64(time.Minute)))
	}
}

func merge(tallies []*tally, journal *Journal, measured time.Duration) *Result {
	r := &Result{Latency: NewHistogram(), Refusals: NewHistogram(), Statuses: map[int]int64{}, Journal: journal}
	for _, t := range tallies {
		r.Latency.Merge(t.latency)
		r.Refusals.Merge(t.refusals)
		for status, n := range maps.All(t.statuses) {
			r.Statuses[status] += n
		}
		if t.failure != nil {
			r.Failure = t.failure
		}
	}
	r.Rate = float64(r.Latency.TotalCount()) / measured.Seconds()
	return r
}

// Closed sends on every connection as soon as it has the answer to the request before.
func Closed(ctx context.Context, p Plan) *Result {
	start := time.Now()
	from, to := start.Add(p.Warmup), start.Add(p.Warmup+p.Measure)
	journal := newJournal(p.Run, p.Connections)
	tallies := make([]*tally, p.Connections)
	var senders sync.WaitGroup
	for i := range p.Connections {
		tallies[i] = newTally()
		senders.Go(func() {
			c := newConnection(p.Target, to.Add(grace))
			defer c.close()
			now := time.Now()
			for seq := 0; now.Before(to) && ctx.Err() == nil; seq++ {
				n := Number{Run: p.Run, Sender: i, Sequence: seq}
				status, err := c.exchange(ctx, n, now)
				journal.note(n, status)
				done := time.Now()
				if done.After(from) && done.Before(to) {
					tallies[i].add(status, done.Sub(now), err)
				}
				now = done
				if err != nil && !rest(ctx, 10*time.Millisecond) {
					return
				}
			}
		})
	}
	p.watch(ctx, from, to)
	senders.Wait()
	return merge(tallies, journal, p.Measure)
}

// watch tells when counting begins and ends.
func (p Plan) watch(ctx context.Context, from, to time.Time) {
	for _, at := range []struct {
		moment time.Time
		call   func()
	}{{from, p.Begin}, {to, p.End}} {
		if !rest(ctx, time.Until(at.moment)) {
			return
		}
		if at.call != nil {
			at.call()
		}
	}
}

// rest waits, and says whether it did to the end.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
