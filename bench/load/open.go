// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Open sends so many requests a second, at random moments, whatever the server does: the time between two has an
// exponential distribution, as with pgbench --rate. Latency is counted from the moment at which a request should have been
// sent, so that a server that stalls is charged for those that had to wait meanwhile. Begin and End are called as by Closed.
func Open(ctx context.Context, p Plan, rate float64) *Result {
	// Long enough that a full run never waits for a free place in it.
	due := make(chan time.Time, int(2*rate*(p.Warmup+p.Measure).Seconds())+1024)
	start := time.Now().Add(50 * time.Millisecond)
	from, to := start.Add(p.Warmup), start.Add(p.Warmup+p.Measure)
	journal := newJournal(p.Run, p.Connections)
	tallies := make([]*tally, p.Connections)
	var senders sync.WaitGroup
	for i := range p.Connections {
		tallies[i] = newTally()
		senders.Go(func() {
			c := newConnection(p.Target, to.Add(grace))
			defer c.close()
			// What fails now fails again below, and is counted there.
			_ = c.open(ctx)
			seq := 0
			for intended := range due {
				n := Number{Run: p.Run, Sender: i, Sequence: seq}
				status, err := c.exchange(ctx, n, time.Now())
				journal.note(n, status)
				seq++
				if !intended.Before(from) && intended.Before(to) {
					tallies[i].add(status, time.Since(intended), err)
				}
			}
		})
	}
	go dispatch(ctx, due, start, to, rate)
	p.watch(ctx, from, to)
	senders.Wait()
	return merge(tallies, journal, p.Measure)
}

// dispatch hands out the moments when they come. Go's own timers are up to a millisecond late on an idle machine, which
// is more than what is measured, so it has a thread of its own that sleeps by the kernel's clock.
func dispatch(ctx context.Context, due chan<- time.Time, start, to time.Time, rate float64) {
	defer close(due)
	// Not unlocked: the thread ends with this, and its exact sleep with it.
	runtime.LockOSThread()
	// If the kernel does not allow it, sleeps are some 50 microseconds longer.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	//nolint:gosec // Moments need no secrecy.
	random := rand.New(rand.NewPCG(uint64(start.UnixNano()), 1))
	for intended := start; intended.Before(to) && ctx.Err() == nil; {
		if wait := time.Until(intended); wait > 0 {
			left := unix.NsecToTimespec(int64(wait))
			_ = unix.Nanosleep(&left, nil)
			continue
		}
		due <- intended
		intended = intended.Add(time.Duration(random.ExpFloat64() / rate * float64(time.Second)))
	}
}
