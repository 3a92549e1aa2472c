// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// span is how long events are counted, and manyEvents is how many in one span are worth memory: 16 MiB at least, and never
	// more than limitMemory allows.
	span       = 10 * time.Second
	manyEvents = 1000
	// The collector begins when so many percent of what was in use have come on top of it.
	thrifty  = 100
	generous = 400
)

// garbage has memory collected more rarely while events come in numbers: then a tenth of the processor's time would go into
// that. An administrator's GOGC is left alone.
type garbage struct {
	events atomic.Int64

	mu       sync.Mutex
	generous bool // guarded by mu
}

// event counts one.
func (g *garbage) event() {
	if g.events.Add(1) == manyEvents {
		g.be(true)
	}
}

// watch ends it when there are few events again; it returns when ctx is done.
func (g *garbage) watch(ctx context.Context) {
	ticker := time.NewTicker(span)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			g.next()
		case <-ctx.Done():
			return
		}
	}
}

// next begins another span.
func (g *garbage) next() {
	if g.events.Swap(0) < manyEvents {
		g.be(false)
	}
}

func (g *garbage) be(generously bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.generous == generously || os.Getenv("GOGC") != "" {
		return
	}
	g.generous = generously
	percent := thrifty
	if generously {
		percent = generous
	}
	debug.SetGCPercent(percent)
}
