// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/receiver/ingest"
)

const forged = "X-Webhook-Signature: t=1700000000,v1=00\r\n"

// stallable is an endpoint with room for 1 MiB of bodies, of which 256 KiB are kept for small ones. It is told of each
// request that begins.
func stallable(t *testing.T, change ...func(*endpoint)) (e *endpoint, begun chan struct{}) {
	t.Helper()
	begun = make(chan struct{}, 1000)
	change = append(change, func(e *endpoint) {
		e.settings.MaxBodyBytes, e.settings.MaxInFlightBytes = 128<<10, 1<<20
		settings := e.settings
		e.options.Settings = func() *ingest.Settings {
			begun <- struct{}{}
			return &settings
		}
	})
	return newEndpoint(t, change...), begun
}

// stall begins so many requests of which the given part of the body comes, and no more.
func stall(t *testing.T, address string, count, declared, sent int) []*wire {
	t.Helper()
	wires := make([]*wire, count)
	for i := range wires {
		wires[i] = dial(t, address)
		wires[i].write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n", path, declared, forged))
		// Who is refused at once may not take it all.
		_, _ = io.WriteString(wires[i].conn, strings.Repeat("x", sent))
	}
	return wires
}

// wantGoodOnes posts 100 small requests, 10 at a time, which must all be accepted.
func wantGoodOnes(t *testing.T, e *endpoint, address string) {
	t.Helper()
	before := e.ledger.calls()
	var group sync.WaitGroup
	for range 10 {
		w := dial(t, address)
		request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), signatureLine(t, body), body)
		group.Go(func() {
			for range 10 {
				if _, err := io.WriteString(w.conn, request); err != nil {
					t.Error(err)
					return
				}
				response, err := http.ReadResponse(w.reader, nil)
				if err != nil {
					t.Error(err)
					return
				}
				content, err := io.ReadAll(response.Body)
				if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusOK {
					t.Errorf("got %d %s, %v", response.StatusCode, content, err)
				}
			}
		})
	}
	group.Wait()
	if got := e.ledger.calls() - before; got != 100 {
		t.Errorf("%d of 100 good requests were recorded", got)
	}
}

// TestStalledSendersLeaveRoomForSmallBodies: senders that send all of large bodies but one byte have no more than the room
// for large bodies, and not for long.
func TestStalledSendersLeaveRoomForSmallBodies(t *testing.T) {
	t.Parallel()
	busy := make(chan struct{}, 100)
	e, _ := stallable(t, func(e *endpoint) {
		e.options.Answered = func(o ingest.Outcome) {
			if o.Cause == "busy" {
				busy <- struct{}{}
			}
		}
	})
	address := e.serve(t).Listener.Addr().String()
	started := time.Now()
	wires := stall(t, address, 20, 128<<10, 128<<10-1)
	<-busy
	wantGoodOnes(t, e, address)
	held := 0
	for _, w := range wires {
		// Those that were refused at once may have been reset before they read it.
		response, err := http.ReadResponse(w.reader, nil)
		if err != nil {
			continue
		}
		if response.StatusCode == http.StatusRequestTimeout && response.Close {
			held++
		} else if response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("got %d", response.StatusCode)
		}
		_ = response.Body.Close()
	}
	if took := time.Since(started); held < 3 || took > ingest.ReadTimeout-time.Second {
		t.Errorf("%d were held, for %v", held, took)
	}
	if e.count("rejected/slow_body") != held {
		t.Errorf("counts %v, want %d of slow_body", e.counts, held)
	}
	// What they occupied is free: so many large bodies fit again.
	content := body + strings.Repeat(" ", 100<<10)
	w := dial(t, address)
	w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(content), signatureLine(t, content), content))
	if status, answer, _ := w.answer(); status != 200 {
		t.Errorf("a large body afterwards: %d %s", status, answer)
	}
}

// TestHeadersAloneOccupyNothing: 200 first chunks would be more than there is room for.
func TestHeadersAloneOccupyNothing(t *testing.T) {
	t.Parallel()
	e, begun := stallable(t)
	address := e.serve(t).Listener.Addr().String()
	wires := stall(t, address, 200, 64<<10, 0)
	for range wires {
		<-begun
	}
	wantGoodOnes(t, e, address)
	for _, w := range wires {
		if status, content, header := w.answer(); status != http.StatusRequestTimeout || content != `{"error":"slow_body"}` || header.Get("Connection") != "close" {
			t.Fatalf("got %d %s, Connection %q", status, content, header.Get("Connection"))
		}
	}
}

// TestTheGraceEndsWithTheBody: a request that was read is not given up because recording it takes longer than a body may
// pause, and its connection is used again.
func TestTheGraceEndsWithTheBody(t *testing.T) {
	t.Parallel()
	e, _ := stallable(t)
	var once sync.Once
	server := httptest.NewUnstartedServer(nil)
	server.Config = ingest.NewServer("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.handler.ServeHTTP(w, r)
		once.Do(func() {
			select {
			case <-r.Context().Done():
				t.Error("the request was given up")
			case <-time.After(2500 * time.Millisecond):
			}
		})
	}), slog.New(slog.DiscardHandler))
	server.Start()
	t.Cleanup(server.Close)
	w := dial(t, server.Listener.Addr().String())
	for range 2 {
		w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), signatureLine(t, body), body))
		if status, content, _ := w.answer(); status != 200 {
			t.Errorf("got %d %s", status, content)
		}
	}
}
