// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/receiver/ingest"
)

// bounded serves the endpoint with at most so many connections.
func (e *endpoint) bounded(t *testing.T, most int) (address string, server *http.Server) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = ingest.NewServer("", e.handler, slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	bound := ingest.NewConnections(most, e.handler).Apply(server, listener)
	go func() { ended <- server.Serve(bound) }()
	t.Cleanup(func() {
		_ = server.Close()
		select {
		case err := <-ended:
			if !errors.Is(err, http.ErrServerClosed) {
				t.Errorf("the server ended: %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("the server did not end")
		}
	})
	return listener.Addr().String(), server
}

// TestIdlersKeepNobodyOut: connections that send nothing, half of their headers, or part of a body take turns, and a good
// sender with a new connection for each request is served meanwhile.
func TestIdlersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]string{
		"nothing":           "",
		"half of a header":  "POST " + path + " HTTP/1.1\r\nX-Slow: ",
		"part of a body":    "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n" + forged + "\r\nx",
		"part of a chunk":   "POST " + path + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" + forged + "\r\n40\r\nx",
		"unused after once": "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t)
			address, _ := e.bounded(t, 10)
			for range 50 {
				w := dial(t, address)
				if begin != "" {
					w.write(begin)
				}
			}
			started := time.Now()
			for range 20 {
				status, answer, _ := postWire(t, address, path, signatureLine(t, body)+"Connection: close\r\n", body)
				if status != 200 {
					t.Errorf("got %d %s", status, answer)
				}
			}
			if took := time.Since(started); took > 1500*time.Millisecond {
				t.Errorf("20 requests took %v", took)
			}
		})
	}
}

// TestAConnectionAtWorkIsNotClosed: the next one waits for it, and a server that ends does not.
func TestAConnectionAtWorkIsNotClosed(t *testing.T) {
	t.Parallel()
	e, _ := stallable(t)
	address, _ := e.bounded(t, 1)
	content := body + strings.Repeat(" ", 100<<10)
	slow := dial(t, address)
	slow.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n%s\r\n", path, len(content), signatureLine(t, content)))
	// Faster than the pace, and for longer than the patience.
	next := dial(t, address)
	next.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), signatureLine(t, body), body))
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for rest := content; rest != ""; rest = rest[min(len(rest), 8<<10):] {
		slow.write(rest[:min(len(rest), 8<<10)])
		<-ticker.C
	}
	if status, answer, _ := slow.answer(); status != 200 {
		t.Errorf("the one at work got %d %s", status, answer)
	}
	if status, answer, _ := next.answer(); status != 200 {
		t.Errorf("the next one got %d %s", status, answer)
	}
	waiting := dial(t, address)
	waiting.write("GET ")
	dial(t, address)
}
