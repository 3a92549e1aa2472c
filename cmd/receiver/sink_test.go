// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// sink is a destination that records what it got.
type sink struct {
	*httptest.Server
	// status of its answers.
	status atomic.Int32

	mu    sync.Mutex
	calls []call
	// held is closed, or nil, when the sink may answer.
	held chan struct{}
}

type call struct{ Key, EventID, Attempt, Body string }

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{}
	s.status.Store(http.StatusOK)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.calls = append(s.calls, call{
			r.Header.Get("Idempotency-Key"), r.Header.Get("Hookonce-Event-Id"), r.Header.Get("Hookonce-Attempt"), string(body),
		})
		held := s.held
		s.mu.Unlock()
		if held != nil {
			<-held
		}
		w.WriteHeader(int(s.status.Load()))
	}))
	t.Cleanup(s.Close)
	return s
}

// hold keeps the sink from answering until the returned function is called.
func (s *sink) hold(t *testing.T) func() {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.held = held
	answer := sync.OnceFunc(func() { close(held) })
	t.Cleanup(answer)
	return answer
}

func (s *sink) seen() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// keys are the distinct idempotency keys that the sink has seen.
func (s *sink) keys() []string {
	var keys []string
	for _, c := range s.seen() {
		if !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// link is a connection to a server that can be cut.
type link struct {
	addr, target string
	// sent counts the bytes to the server.
	sent atomic.Int64

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
}

func newLink(t *testing.T, target string) *link {
	t.Helper()
	l := &link{addr: "127.0.0.1:0", target: target}
	l.restore(t)
	l.addr = l.listener.Addr().String()
	t.Cleanup(l.cut)
	return l
}

// cut closes every connection and refuses new ones.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for _, conn := range l.conns {
		_ = conn.Close()
	}
	l.conns = nil
}

func (l *link) restore(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", l.addr)
	must(t, err)
	l.mu.Lock()
	l.listener = listener
	l.mu.Unlock()
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			l.join(near)
		}
	}()
}

func (l *link) join(near net.Conn) {
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		_ = near.Close()
		return
	}
	l.mu.Lock()
	l.conns = append(l.conns, near, far)
	l.mu.Unlock()
	pump := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from)
		_, _ = near.Close(), far.Close()
	}
	go pump(near, far)
	go pump(far, io.TeeReader(near, counter{&l.sent}))
}

// counter counts the bytes that are written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

func serveMux(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}
