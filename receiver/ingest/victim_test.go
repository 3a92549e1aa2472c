// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// placed returns a bound with so many places, and a function that takes one in a way that may be watched.
func placed(t *testing.T, most int) (*Connections, func() (*boundConn, chan bool)) {
	t.Helper()
	c := NewConnections(most, &Handler{})
	return c, func() (*boundConn, chan bool) {
		near, far := net.Pipe()
		t.Cleanup(func() { _, _ = near.Close(), far.Close() })
		b, entered := &boundConn{Conn: near, connections: c}, make(chan bool, 1)
		go func() { entered <- c.enter(b, func() bool { return false }) }()
		return b, entered
	}
}

// idleSince makes a connection one that has been unused for so long.
func idleSince(c *Connections, b *boundConn, ago time.Duration) {
	c.moved(b, http.StateActive)
	c.moved(b, http.StateIdle)
	c.mu.Lock()
	defer c.mu.Unlock()
	b.since = b.since.Add(-ago)
}

// TestYoungConnectionsDoNotProtectUnusedOnes: a new one takes the place of one that has been unused for long at once, also
// while others have only just come.
func TestYoungConnectionsDoNotProtectUnusedOnes(t *testing.T) {
	c, take := placed(t, 2)
	unused, entered := take()
	<-entered
	idleSince(c, unused, time.Hour)
	young, entered := take()
	<-entered
	c.mu.Lock()
	young.since = young.since.Add(time.Hour)
	victim := c.victim()
	c.mu.Unlock()
	if victim != unused {
		t.Errorf("%v makes way, want the one that is unused", victim)
	}
	idleSince(c, unused, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if victim := c.victim(); victim != nil {
		t.Error("one that has not waited for long makes way")
	}
}

// TestAClosedConnectionIsNotListedAgain: the server may tell that it is idle when it has had to make way already.
func TestAClosedConnectionIsNotListedAgain(t *testing.T) {
	c, take := placed(t, 1)
	first, entered := take()
	<-entered
	idleSince(c, first, time.Hour)
	_, entered = take()
	<-entered
	c.moved(first, http.StateIdle)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle.Len() != 0 || c.open != 1 {
		t.Errorf("%d idle, %d open", c.idle.Len(), c.open)
	}
}

// TestNoWakeIsLost: the look at the connections and the wait are one step for whoever wakes.
func TestNoWakeIsLost(t *testing.T) {
	c, _ := placed(t, 1)
	c.mu.Lock()
	woken := make(chan struct{})
	go func() {
		c.wake()
		close(woken)
	}()
	select {
	case <-woken:
		t.Error("woken between the look and the wait")
	case <-time.After(20 * time.Millisecond):
	}
	c.mu.Unlock()
	<-woken
}
