// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package hostile

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"
)

// mostRefused is how long it may take to be told to come back.
const mostRefused = 50 * time.Millisecond

// TestOverload: a fifth more than the receiver can do, by the clock and not by its answers.
func TestOverload(t *testing.T) {
	const connections, measured, loaded = 48, 3 * time.Second, 10 * time.Second
	x := newTarget(t, true)
	alone, stop := context.WithTimeout(t.Context(), 2*time.Second)
	unloaded := goodSender(alone, x)
	stop()
	links := make(chan *link, 1600)
	for n := range cap(links) {
		l, err := connect(t.Context(), x.public, n)
		must(t, err)
		defer func() { _ = l.Close() }()
		// One that has had a request may be kept for longer than it takes until its turn comes.
		if code, err := l.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil || code != http.StatusNotFound {
			t.Fatalf("got %d, %v", code, err)
		}
		links <- l
	}
	capacity := float64(saturate(t, links, connections, measured)) / measured.Seconds()

	accepted, refused := &figures{}, &figures{}
	var acknowledged sync.Map
	var requests sync.WaitGroup
	var missed, sent int
	started := time.Now()
	for sent = 0; time.Since(started) < loaded; sent++ {
		due := started.Add(time.Duration(float64(sent) / (1.2 * capacity) * float64(time.Second)))
		pause(t.Context(), time.Until(due))
		select {
		case l := <-links:
			requests.Go(func() {
				id, request := good(1024)
				code, err := l.ask(request)
				took := time.Since(due)
				switch {
				case err == nil && code == http.StatusOK:
					acknowledged.Store(id, true)
					accepted.add(took, code, "", nil)
				default:
					refused.add(took, code, l.said, err)
				}
				links <- l
			})
		default:
			missed++
		}
	}
	requests.Wait()
	t.Logf("capacity %.0f/s; offered %d in %v, of which %d found no connection", capacity, sent, loaded, missed)
	t.Logf("alone: p99 %v", unloaded.percentile(.99))
	t.Logf("accepted %d: p50 %v, p99 %v", len(accepted.took), accepted.percentile(.5), accepted.percentile(.99))
	t.Logf("refused %d: p50 %v, p99 %v, %v, last error %v", len(refused.took), refused.percentile(.5), refused.percentile(.99), refused.said, refused.last)
	if p99, limit := accepted.percentile(.99), max(mostP99, 4*unloaded.percentile(.99)); p99 > limit {
		t.Errorf("accepted: p99 %v, want at most %v", p99, limit)
	}
	if p99, limit := refused.percentile(.99), max(mostRefused, 4*unloaded.percentile(.99)); p99 > limit {
		t.Errorf("refused: p99 %v, want at most %v", p99, limit)
	}
	if others := len(refused.took) - refused.codes[http.StatusServiceUnavailable]; others > 0 || len(refused.took) == 0 {
		t.Errorf("%d were neither accepted nor told to come back, of %d: %v", others, len(refused.took), refused.codes)
	}
	ids := x.ids(t)
	acknowledged.Range(func(id, _ any) bool {
		if text, ok := id.(string); !ok || !ids[text] {
			t.Errorf("%v was acknowledged and is not in the ledger", id)
		}
		return true
	})
}

// saturate keeps so many requests under way and returns how many were accepted.
func saturate(t *testing.T, links chan *link, count int, d time.Duration) int {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	f := &figures{}
	var senders sync.WaitGroup
	for range count {
		senders.Go(func() {
			l := <-links
			for ctx.Err() == nil {
				_, request := good(1024)
				started := time.Now()
				code, err := l.ask(request)
				f.add(time.Since(started), code, l.said, err)
			}
			links <- l
		})
	}
	senders.Wait()
	t.Logf("saturated: p50 %v, p99 %v, %v", f.percentile(.5), f.percentile(.99), f.codes)
	return f.codes[http.StatusOK]
}
