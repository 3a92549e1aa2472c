// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package hostile

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// duration of a crowd.
const duration = 15 * time.Second

// again is how long a sender whose connection was closed takes to come again.
const again = 5 * time.Second

// crowd runs so many senders, each of which comes again after its connection was closed, for some time.
func crowd(t *testing.T, x *target, count int, begin func(n int) string, drip string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), duration)
	defer stop()
	var senders sync.WaitGroup
	var connected, open, most atomic.Int64
	for n := range count {
		senders.Go(func() {
			// They do not all come in the same instant, but within a second.
			pause(ctx, time.Duration(n)*time.Second/time.Duration(count))
			for ctx.Err() == nil {
				if l, err := connect(ctx, x.public, n); err == nil {
					connected.Add(1)
					for now := open.Add(1); now > most.Load(); {
						most.Store(now)
					}
					stall(ctx, l, begin(n), drip)
					open.Add(-1)
				}
				pause(ctx, again)
			}
		})
	}
	senders.Wait()
	t.Logf("%d senders connected %d times, up to %d at once", count, connected.Load(), most.Load())
}

// stall sends the beginning and then a drop every second, until the receiver has had enough.
func stall(ctx context.Context, l *link, begin, drip string) {
	defer func() { _ = l.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	if _, err := io.WriteString(l, begin); err != nil {
		return
	}
	if drip != "" {
		go func() {
			for pause(ctx, time.Second) {
				if _, err := io.WriteString(l, drip); err != nil {
					return
				}
			}
		}()
	}
	_, _ = io.Copy(io.Discard, l)
}

// pause says whether there is more to do after it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// TestTenThousandSlowConnections: that send nothing, half of their headers, or their bodies byte by byte.
func TestTenThousandSlowConnections(t *testing.T) {
	x := newTarget(t, false)
	slow := func(n int) string {
		switch n % 3 {
		case 0:
			return ""
		case 1:
			return "POST " + path + " HTTP/1.1\r\nX-Slow: "
		}
		return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\n" + fmt.Sprintf(forged, time.Now().Unix()) + "\r\n"
	}
	before := x.wire.sent.Load()
	crowd(t, x, 1000, slow, "x")
	if n := x.wire.sent.Load() - before; n != 0 {
		t.Errorf("%d bytes were sent to Postgres for requests that are not verified", n)
	}
	withGood(t, x, func(context.Context) { crowd(t, x, 10_000, slow, "x") })
	x.wantMemory(t, mostMemory)
}

// TestForgersDoNotFillTheRoom: 1,000 senders with the header of a signature and all of a body but its last byte.
func TestForgersDoNotFillTheRoom(t *testing.T) {
	for _, size := range []int{64 << 10, 1 << 20} {
		t.Run(fmt.Sprintf("%d KiB", size>>10), func(t *testing.T) {
			x := newTarget(t, false)
			begin := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", path, size)
			rest := "\r\n" + strings.Repeat("x", size-1)
			withGood(t, x, func(context.Context) {
				crowd(t, x, 1000, func(int) string { return begin + fmt.Sprintf(forged, time.Now().Unix()) + rest }, "")
			})
			x.wantMemory(t, mostMemory)
		})
	}
}

// TestForgersDoNotFillTheGate: 1,000 senders whose whole requests have bad signatures take no places.
func TestForgersDoNotFillTheGate(t *testing.T) {
	x := newTarget(t, true)
	withGood(t, x, func(context.Context) {
		ctx, stop := context.WithTimeout(t.Context(), duration)
		defer stop()
		var senders sync.WaitGroup
		var answered atomic.Int64
		for n := range 1000 {
			senders.Go(func() {
				for ctx.Err() == nil {
					l, err := connect(ctx, x.public, n)
					if err != nil {
						continue
					}
					for err == nil && ctx.Err() == nil {
						var code int
						code, err = l.ask("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 8192\r\n" + fmt.Sprintf(forged, time.Now().Unix()) + "\r\n" + strings.Repeat("x", 8192))
						if err == nil && code != http.StatusUnauthorized {
							t.Errorf("a forged request got %d", code)
							return
						}
						answered.Add(1)
						pause(ctx, 500*time.Millisecond)
					}
					_ = l.Close()
				}
			})
		}
		senders.Wait()
		t.Logf("%d forged requests were answered", answered.Load())
	})
}

// TestRandomRequestsMakeNoSeries: 100,000 random paths, ids and methods leave the number of time series as it was.
func TestRandomRequestsMakeNoSeries(t *testing.T) {
	const each, senders = 12_500, 8
	x := newTarget(t, false)
	all := sync.WaitGroup{}
	// One of each answer first, so that what is fixed is there.
	send(t, x, 200, rand.New(rand.NewPCG(1, 1))) //nolint:gosec // A seed makes a run repeatable.
	before := x.series(t)
	for n := range senders {
		random := rand.New(rand.NewPCG(2, uint64(n))) //nolint:gosec // A seed makes a run repeatable.
		all.Go(func() { send(t, x, each, random) })
	}
	all.Wait()
	after := x.series(t)
	t.Logf("%d series before, %d after", before, after)
	if after != before {
		t.Errorf("%d series before and %d after", before, after)
	}
}

func send(t *testing.T, x *target, count int, random *rand.Rand) {
	t.Helper()
	methods := []string{"GET", "PUT", "OPTIONS", "BREW", "post", "POST", "POST", "POST"}
	var l *link
	for range count {
		if l == nil {
			var err error
			if l, err = connect(t.Context(), x.public, 0); err != nil {
				t.Error(err)
				return
			}
		}
		word := fmt.Sprintf("%x", random.Uint64())
		method, where := methods[random.IntN(len(methods))], path
		switch random.IntN(4) {
		case 0:
			where = "/" + word
		case 1:
			where, method = path+"?"+word, method+strings.ToUpper(word[:1])
		}
		request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nX-Request-Id: %s\r\nContent-Length: 2\r\n%s\r\n{}", method, where, word, word, fmt.Sprintf(forged, time.Now().Unix()+int64(random.IntN(1000))-500))
		// Who is refused before the body was read loses the connection.
		if _, err := l.ask(request); err != nil {
			_ = l.Close()
			l = nil
		}
	}
	if l != nil {
		_ = l.Close()
	}
}
