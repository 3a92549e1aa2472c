// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
)

// wire is one connection on which requests are written by hand.
type wire struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

func dial(t *testing.T, address string) *wire {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &wire{t: t, conn: conn, reader: bufio.NewReader(conn)}
}

func (w *wire) write(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.conn, text); err != nil {
		w.t.Fatal(err)
	}
}

// answer reads one response; an interim one counts.
func (w *wire) answer() (int, string, http.Header) {
	w.t.Helper()
	response, err := http.ReadResponse(w.reader, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if response.Close {
		response.Header.Set("Connection", "close")
	}
	return response.StatusCode, string(content), response.Header
}

func signatureLine(t *testing.T, content string) string {
	t.Helper()
	paymos, _ := scheme.Preset(scheme.Paymos)
	return "X-Webhook-Signature: " + signatureOf(t, paymos, content).Get("X-Webhook-Signature") + "\r\n"
}

// TestB41ExpectContinue: a refusal that does not need the body comes at once instead of 100 Continue; otherwise the body is
// asked for.
func TestB41ExpectContinue(t *testing.T) {
	e := newEndpoint(t)
	address := e.serve(t).Listener.Addr().String()
	for name, test := range map[string]struct {
		line, headers string
		status        int
	}{
		"path":           {"POST /other", "Content-Length: 5000\r\n", 404},
		"method":         {"PUT " + path, "Content-Length: 5000\r\n", 405},
		"encoding":       {"POST " + path, "Content-Length: 500\r\nContent-Encoding: gzip\r\n", 415},
		"length":         {"POST " + path, "Content-Length: 5000\r\n", 413},
		"no signature":   {"POST " + path, "Content-Length: 500\r\n", 401},
		"blank one":      {"POST " + path, "Content-Length: 500\r\nX-Webhook-Signature: \r\n", 401},
		"chunked, path":  {"POST /other", "Transfer-Encoding: chunked\r\n", 404},
		"without Expect": {"POST /other", "Content-Length: 100000\r\nX-Skip: ", 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := dial(t, address)
			started := time.Now()
			w.write(test.line + " HTTP/1.1\r\nHost: x\r\n" + test.headers + "Expect: 100-continue\r\n\r\n")
			status, content, header := w.answer()
			if took := time.Since(started); took > 100*time.Millisecond && name != "without Expect" {
				t.Errorf("answered after %v", took)
			}
			if status != test.status || header.Get("Connection") != "close" {
				t.Errorf("got %d %s, Connection %q, want %d", status, content, header.Get("Connection"), test.status)
			}
			if _, err := w.reader.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("the connection is still open: %v", err)
			}
			if took := time.Since(started); took > ingest.ReadTimeout-time.Second {
				t.Errorf("a body that never comes was waited for: %v", took)
			}
		})
	}
	w := dial(t, address)
	w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nExpect: 100-continue\r\n%s\r\n", path, len(body), signatureLine(t, body)))
	if status, _, _ := w.answer(); status != 100 {
		t.Fatalf("got %d, want 100", status)
	}
	w.write(body)
	if status, content, _ := w.answer(); status != 200 || e.ledger.calls() != 1 {
		t.Errorf("got %d %s", status, content)
	}
}

// TestB42PathsAreExact: other writings of the path are 404, never a redirect.
func TestB42PathsAreExact(t *testing.T) {
	e := newEndpoint(t)
	address := e.serve(t).Listener.Addr().String()
	for target, want := range map[string]int{
		path:                      200,
		path + "?x=1":             200,
		path + "?":                200,
		"http://elsewhere" + path: 200,
		path + "/":                404,
		path + "//":               404,
		"/" + path:                404,
		path + "/.":               404,
		"/x/.." + path:            404,
		path + "%2F":              404,
		"/webhooks%2Fpayments":    404,
		"/webhooks/%70ayments":    404,
		"/Webhooks/payments":      404,
		path + ";x=1":             404,
		path + "%00":              404,
		"/":                       404,
	} {
		w := dial(t, address)
		w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", target, len(body), signatureLine(t, body), body))
		if status, content, header := w.answer(); status != want || header.Get("Location") != "" {
			t.Errorf("%s: got %d %s, Location %q", target, status, content, header.Get("Location"))
		}
	}
}

func TestMethodsOnTheWire(t *testing.T) {
	e := newEndpoint(t)
	address := e.serve(t).Listener.Addr().String()
	for line, want := range map[string]int{"OPTIONS *": 404, "OPTIONS " + path: 405, "GET " + path: 405, "DELETE " + path: 405, "GET /metrics": 404, "TRACE " + path: 405} {
		w := dial(t, address)
		w.write(line + " HTTP/1.1\r\nHost: x\r\n\r\n")
		if status, content, _ := w.answer(); status != want {
			t.Errorf("%s: got %d %s, want %d", line, status, content, want)
		}
	}
}

func TestDuplicateHeadersOnTheWire(t *testing.T) {
	e := newEndpoint(t)
	address := e.serve(t).Listener.Addr().String()
	line := signatureLine(t, body)
	for name, headers := range map[string]string{"equal": line + line, "other case": line + strings.ToLower(line[:19]) + line[19:], "a bad one first": "X-Webhook-Signature: t=1,v1=00\r\n" + line} {
		w := dial(t, address)
		w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), headers, body))
		if status, content, _ := w.answer(); status != 400 || content != `{"error":"duplicate_header"}` {
			t.Errorf("%s: got %d %s", name, status, content)
		}
	}
	if e.ledger.calls() != 0 {
		t.Errorf("%d reached the ledger", e.ledger.calls())
	}
}

// TestServerLimits: no HTTP/2 in clear text, and headers are bounded.
func TestServerLimits(t *testing.T) {
	e := newEndpoint(t)
	address := e.serve(t).Listener.Addr().String()
	w := dial(t, address)
	w.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	if line, err := w.reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 4") {
		t.Errorf("HTTP/2 without TLS: got %q, %v", line, err)
	}
	w = dial(t, address)
	w.write("POST " + path + " HTTP/1.1\r\nHost: x\r\nX-Big: " + strings.Repeat("x", 32<<10) + "\r\n\r\n")
	if status, _, _ := w.answer(); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("32 KiB of headers: got %d", status)
	}
	s := ingest.NewServer("127.0.0.1:0", e.handler, slog.New(slog.DiscardHandler))
	if s.ReadHeaderTimeout != 5*time.Second || s.ReadTimeout != 15*time.Second || s.WriteTimeout != 30*time.Second || s.IdleTimeout != 75*time.Second || s.MaxHeaderBytes != 16<<10 {
		t.Errorf("limits %+v", s)
	}
	if s.WriteTimeout < s.ReadTimeout+ingest.DefaultMaxWait+ingest.DefaultCommitDeadline {
		t.Error("a slow body and a slow commit leave no time for the answer")
	}
}

// TestDrain: after the end of its context the server still answers new requests and those under way, and then ends.
func TestDrain(t *testing.T) {
	e := newEndpoint(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	e.ledger.answer = func(_ context.Context, event receiver.Event) (receiver.Receipt, error) {
		if event.ID == "evt_slow" {
			close(entered)
			<-leave
		}
		return processed(), nil
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := ingest.NewServer("", e.handler, slog.New(slog.DiscardHandler))
	go func() { ended <- ingest.Serve(ctx, server, listener, 300*time.Millisecond, 10*time.Second) }()

	idle := dial(t, listener.Addr().String())
	post := func(w *wire, content string) {
		w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(content), signatureLine(t, content), content))
	}
	post(idle, body)
	if status, _, header := idle.answer(); status != 200 || header.Get("Connection") == "close" {
		t.Fatalf("before the end: %d, Connection %q", status, header.Get("Connection"))
	}
	slow := dial(t, listener.Addr().String())
	post(slow, `{"event_id":"evt_slow"}`)
	<-entered
	stop()
	for name, w := range map[string]*wire{"an idle connection": idle, "a new connection": dial(t, listener.Addr().String())} {
		post(w, body)
		if status, content, _ := w.answer(); status != 200 {
			t.Errorf("%s during the delay: %d %s", name, status, content)
		}
		if _, err := w.reader.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("%s was kept open: %v", name, err)
		}
	}
	close(leave)
	if status, _, _ := slow.answer(); status != 200 {
		t.Errorf("under way: %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("the port is still open")
	}
}

func TestDrainGivesUp(t *testing.T) {
	e := newEndpoint(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	defer close(leave)
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		close(entered)
		<-leave
		return processed(), nil
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := ingest.NewServer("", e.handler, slog.New(slog.DiscardHandler))
	go func() { ended <- ingest.Serve(ctx, server, listener, 0, time.Millisecond) }()
	w := dial(t, listener.Addr().String())
	w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), signatureLine(t, body), body))
	<-entered
	stop()
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
