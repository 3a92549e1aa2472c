// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
)

// noLedger accepts everything and does nothing, so that what is measured is ours.
type noLedger struct{ receipt receiver.Receipt }

func (l noLedger) Record(context.Context, receiver.Event, receiver.Work) (receiver.Receipt, error) {
	return l.receipt, nil
}

// BenchmarkServed is a request of 1 KiB over loopback, keep-alive, client included: an empty handler that reads the body,
// and ours. The difference is our own.
func BenchmarkServed(b *testing.B) {
	content := padded(1024)
	e := newBenchEndpoint(b)
	header := ""
	for name, values := range signed(b, content).Header {
		header += name + ": " + values[0] + "\r\n"
	}
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nUser-Agent: provider/1\r\nContent-Length: %d\r\n%s\r\n%s", path, len(content), header, content)
	for name, handler := range map[string]http.Handler{"empty": http.HandlerFunc(empty), "ours": e.handler} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewUnstartedServer(nil)
			server.Config = ingest.NewServer("", handler, slog.New(slog.DiscardHandler))
			server.Start()
			defer server.Close()
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) { exchange(b, pb, server.Listener.Addr().String(), request) })
		})
	}
}

// BenchmarkHandler is our handler alone, without a connection.
func BenchmarkHandler(b *testing.B) {
	accept := accepting(b)
	b.ReportAllocs()
	for b.Loop() {
		accept()
	}
}

// mostAllocations is how many pieces of memory an accepted request may take, those of its writer included.
const mostAllocations = 13

func TestAllocationsOfAnAcceptedRequest(t *testing.T) {
	n := testing.AllocsPerRun(1000, accepting(t))
	t.Logf("%.0f allocations", n)
	if n > mostAllocations {
		t.Errorf("%.0f allocations, want at most %d", n, mostAllocations)
	}
}

// accepting returns a function that has a request of 1 KiB accepted.
func accepting(t testing.TB) func() {
	t.Helper()
	content := padded(1024)
	e := newBenchEndpoint(t)
	r := signed(t, content)
	r.Header.Set("User-Agent", "provider/1")
	source := strings.NewReader(content)
	r.ContentLength, r.Body = int64(len(content)), io.NopCloser(source)
	return func() {
		source.Reset(content)
		w := &discarded{header: http.Header{}}
		if e.handler.ServeHTTP(w, r); w.status != http.StatusOK {
			t.Fatal(w.status)
		}
	}
}

type discarded struct {
	header http.Header
	status int
}

func (w *discarded) Header() http.Header         { return w.header }
func (w *discarded) Write(p []byte) (int, error) { return len(p), nil }
func (w *discarded) WriteHeader(status int)      { w.status = status }

// SetReadDeadline is what net/http's own writer has.
func (w *discarded) SetReadDeadline(time.Time) error { return nil }

func newBenchEndpoint(t testing.TB) *endpoint {
	t.Helper()
	return newEndpoint(t, func(e *endpoint) {
		e.options.Ledger = noLedger{processed()}
		e.options.Settings = func() *ingest.Settings { return &e.settings }
		e.options.Count, e.options.Used, e.options.Committed, e.options.Answered = nil, nil, nil, nil
	})
}

func padded(size int) string {
	start, end := `{"event_id":"evt_1","event_type":"invoice.paid","data":{"invoice_id":"inv_1"},"x":"`, `"}`
	return start + strings.Repeat("x", size-len(start)-len(end)) + end
}

func empty(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"processed"}`))
}

// exchange sends the request on a connection of its own for as long as it is asked to, and reads no more of the answers
// than it must.
func exchange(b *testing.B, pb *testing.PB, address, request string) {
	conn, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", address)
	if err != nil {
		b.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	for pb.Next() {
		if _, err := io.WriteString(conn, request); err != nil {
			b.Error(err)
			return
		}
		line, err := reader.ReadSlice('\n')
		if err != nil || !strings.HasPrefix(string(line), "HTTP/1.1 200") {
			b.Errorf("got %q, %v", line, err)
			return
		}
		for len(line) > 2 {
			if line, err = reader.ReadSlice('\n'); err != nil {
				b.Error(err)
				return
			}
		}
		if _, err := reader.Discard(len(`{"status":"processed"}`)); err != nil {
			b.Error(err)
			return
		}
	}
}
