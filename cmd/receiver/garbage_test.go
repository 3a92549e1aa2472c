// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"testing"
)

func TestMemoryIsSpentOnlyWhileManyEventsCome(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(thrifty)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	percent := func() int {
		now := debug.SetGCPercent(thrifty)
		debug.SetGCPercent(now)
		return now
	}
	var g garbage
	many := func() {
		for range manyEvents {
			g.event()
		}
	}
	many()
	if percent() != generous {
		t.Errorf("with many events the collector is at %d, want %d", percent(), generous)
	}
	g.next()
	many()
	g.next()
	if percent() != generous {
		t.Errorf("with many events in each span the collector is at %d, want %d", percent(), generous)
	}
	g.next()
	if percent() != thrifty {
		t.Errorf("after a span with no event the collector is at %d, want %d", percent(), thrifty)
	}
	t.Setenv("GOGC", "70")
	many()
	if percent() != thrifty {
		t.Errorf("the administrator's setting was changed to %d", percent())
	}
}
