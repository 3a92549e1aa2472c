// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a connection may be without a whole request, at least, before it is closed in favor of a new one.
const patience = 100 * time.Millisecond

// Connections bounds how many connections are open at once. While there are as many as may be, a new one takes the place of
// one that does not get on: the one that has been without its first request for longest, or else the one whose body is
// furthest behind its pace, or else the one that is kept open and has been unused for longest. So senders that open
// connections and send nothing, or little, keep nobody out. If all are at work, or have not been there for long, the next one
// waits.
type Connections struct {
	most    int
	handler *Handler
	room    *room

	mu    sync.Mutex
	ended sync.Cond
	open  int
	// fresh have not had a request yet, and idle had one; both in the order in which they began to wait.
	fresh, idle list.List
}

// NewConnections returns the bound for the connections of a handler; most is positive.
func NewConnections(most int, handler *Handler) *Connections {
	c := &Connections{most: most, handler: handler, room: &handler.room}
	c.ended.L = &c.mu
	return c
}

// Apply makes the server tell how far its connections are, and returns the listener to serve.
func (c *Connections) Apply(server *http.Server, listener net.Listener) net.Listener {
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if b, ok := conn.(*boundConn); ok {
			c.moved(b, state)
		}
	}
	return &boundListener{Listener: listener, connections: c}
}

type boundListener struct {
	net.Listener

	connections *Connections
	once        sync.Once
	closed      bool
}

// Accept accepts first and finds a place then, so that the sender of a new connection does not wait behind those that send
// nothing.
func (l *boundListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	b := &boundConn{Conn: conn, connections: l.connections}
	if !l.connections.enter(b, func() bool { return l.closed }) {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	return b, nil
}

// Close also ends the wait for a place.
func (l *boundListener) Close() error {
	err := l.Listener.Close()
	l.once.Do(func() {
		l.connections.mu.Lock()
		l.closed = true
		l.connections.mu.Unlock()
		l.connections.ended.Broadcast()
	})
	return err
}

// boundConn is a connection with a place.
type boundConn struct {
	net.Conn

	connections *Connections
	once        sync.Once
	err         error
	// The fields below belong to the connections: where it waits, if it does, and since when.
	waits *list.Element
	among *list.List
	since time.Time
	// closed says that it has given its place back, or is about to: the server may still tell how far it was.
	closed bool

	// unwatched says that the server is about to watch the connection while its request is answered.
	unwatched atomic.Bool
	// idle says that the server waits for the first bytes of a request that is not the connection's first.
	idle atomic.Bool
	// waited says that the deadline of that wait has been set.
	waited atomic.Bool
	// whole is how much the server reads at once while it holds nothing that it has not used: as much as by its first read. Only
	// reads use it.
	whole int
}

// Read reads. While a request is answered the server watches for the end of its connection, with a read of one byte in a
// goroutine that it must stop before the answer: a tenth of what a request costs, and of no use here, where a disconnect
// decides about nothing. That read finds nothing and ends at once. Only one is answered so: any other of one byte is real.
func (b *boundConn) Read(p []byte) (int, error) {
	if len(p) == 1 && b.unwatched.CompareAndSwap(true, false) {
		return 0, nil
	}
	if b.whole == 0 {
		b.whole = len(p)
	}
	for {
		n, err := b.Conn.Read(p)
		// With less room the server holds the beginning of this request already.
		if err != nil || len(p) < b.whole || !b.idle.Load() || !b.connections.handler.gate.shut.Load() {
			return n, err
		}
		if away, err := b.turnAway(p[:n]); !away || err != nil {
			return n, err
		}
	}
}

// SetReadDeadline ends the wait for a request: the server sets the deadline of its wait, and once the first bytes are there
// another one, for its headers. What is read from then on is within a request, whatever it looks like.
func (b *boundConn) SetReadDeadline(t time.Time) error {
	if b.waited.Swap(true) {
		b.idle.Store(false)
	}
	return b.Conn.SetReadDeadline(t) //nolint:wrapcheck // as the connection would
}

// Close gives the place back.
func (b *boundConn) Close() error {
	b.once.Do(func() {
		b.err = b.Conn.Close()
		b.connections.leave(b)
	})
	return b.err
}

func (c *Connections) enter(b *boundConn, closed func() bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.open >= c.most {
		if closed() {
			return false
		}
		if victim := c.victim(); victim != nil {
			c.unlist(victim)
			victim.closed = true
			c.mu.Unlock()
			_ = victim.Close()
			c.mu.Lock()
			continue
		}
		// Whoever is at work ends, and whoever has not waited for long enough has soon.
		timer := time.AfterFunc(patience/4, c.wake)
		c.ended.Wait()
		timer.Stop()
	}
	c.open++
	c.list(b, &c.fresh)
	return true
}

// wake has whoever waits look again. With the lock it cannot come between a look and the wait.
func (c *Connections) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended.Broadcast()
}

// victim is a connection that waits and may be closed. Nil means that there is none, or that it ends by itself.
func (c *Connections) victim() *boundConn {
	if b := oldest(&c.fresh); b != nil && wallClock().Sub(b.since) > patience {
		return b
	}
	if c.room.evictOne(wallClock()) {
		return nil
	}
	if b := oldest(&c.idle); b != nil && wallClock().Sub(b.since) > patience {
		return b
	}
	return nil
}

func oldest(waiting *list.List) *boundConn {
	if first := waiting.Front(); first != nil {
		if b, ok := first.Value.(*boundConn); ok {
			return b
		}
	}
	return nil
}

func (c *Connections) leave(b *boundConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unlist(b)
	b.closed = true
	c.open--
	c.ended.Signal()
}

// moved is told by the server: a connection is active from the end of a request's headers to the end of its answer.
func (c *Connections) moved(b *boundConn, state http.ConnState) {
	b.unwatched.Store(state == http.StateActive)
	b.waited.Store(false)
	b.idle.Store(state == http.StateIdle)
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.closed {
		return
	}
	switch state {
	case http.StateActive:
		c.unlist(b)
	case http.StateIdle:
		c.unlist(b)
		c.list(b, &c.idle)
	case http.StateNew, http.StateHijacked, http.StateClosed:
	}
}

func (c *Connections) list(b *boundConn, among *list.List) {
	b.since, b.among = wallClock(), among
	b.waits = among.PushBack(b)
}

func (c *Connections) unlist(b *boundConn) {
	if b.waits != nil {
		b.among.Remove(b.waits)
		b.waits = nil
	}
}
