// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
)

// readCounter counts the reads from a listener's connections that have begun, and has each get so many bytes at most.
type readCounter struct {
	net.Listener

	most  int
	begun atomic.Int64
}

func (l *readCounter) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &countedConn{Conn: conn, counter: l}, err
}

type countedConn struct {
	net.Conn

	counter *readCounter
}

func (c *countedConn) Read(p []byte) (int, error) {
	c.counter.begun.Add(1)
	return c.Conn.Read(p[:min(len(p), c.counter.most)])
}

// counted serves the endpoint and counts what is read.
func (e *endpoint) counted(t *testing.T, most int) *readCounter {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	reads := &readCounter{Listener: listener, most: most}
	server := ingest.NewServer("", e.handler, slog.New(slog.DiscardHandler))
	bound := ingest.NewConnections(10, e.handler).Apply(server, reads)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(bound) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return reads
}

// TestNobodyWatchesAConnectionAtWork: while a request is recorded nothing reads from its connection, and what was sent
// meanwhile is there afterwards.
func TestNobodyWatchesAConnectionAtWork(t *testing.T) {
	t.Parallel()
	atWork, goOn := make(chan struct{}), make(chan struct{})
	e := newEndpoint(t)
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		atWork <- struct{}{}
		<-goOn
		return processed(), nil
	}
	reads := e.counted(t, 1<<20)
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), signatureLine(t, body), body)
	w := dial(t, reads.Addr().String())
	w.write(request)
	for n := range 5 {
		<-atWork
		before := reads.begun.Load()
		if n < 4 {
			w.write(request)
		}
		// The watch would begin in a goroutine of its own: it has had its turn when others have had several.
		for range 20 {
			begun := make(chan struct{})
			go close(begun)
			<-begun
		}
		if more := reads.begun.Load() - before; more != 0 || before != int64(n+1) {
			t.Errorf("request %d: %d reads before it was recorded, and %d while it was", n, before, more)
		}
		goOn <- struct{}{}
		if status, answer, _ := w.answer(); status != http.StatusOK {
			t.Errorf("request %d: got %d %s", n, status, answer)
		}
	}
}

// TestOtherReadsOfOneByte: a chunk whose line fills the server's buffer up to its last byte is read to its end.
func TestOtherReadsOfOneByte(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := dial(t, e.counted(t, 1).Addr().String())
	for range 3 {
		size := fmt.Sprintf("%x;", len(body))
		w.write("POST " + path + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" + signatureLine(t, body) + "\r\n" +
			size + strings.Repeat("x", 4096-len(size)-2) + "\r\n" + body + "\r\n0\r\n\r\n")
		if status, answer, _ := w.answer(); status != http.StatusOK {
			t.Errorf("got %d %s", status, answer)
		}
	}
}
