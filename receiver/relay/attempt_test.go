// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver"
)

// loopback is where sinks are.
func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

func postOnce(t *testing.T, to Destination, d receiver.Delivery) (Answer, error) {
	t.Helper()
	transport := newTransport(newDialer(loopback()))
	t.Cleanup(transport.CloseIdleConnections)
	p := &poster{client: newClient(transport), userAgent: "hookonce/test", now: time.Now}
	return p.carry(t.Context(), to, d)
}

func TestPostSendsTheBytesAndHeaders(t *testing.T) {
	s := newSink(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	d := delivery("sink", 1)
	d.Body = []byte("{\"a\":\"\\u0000\\ud800\xff\", \"n\":12345678901234567890}\r\n")
	d.ContentType = "application/json; charset=latin1"
	d.Attempt = 7
	answer, err := postOnce(t, Destination{URL: s.URL + "/hooks?x=1"}, d)
	if err != nil || answer.Status != http.StatusAccepted {
		t.Fatalf("post: %d, %v", answer.Status, err)
	}
	requests, bodies := s.seen()
	if !bytes.Equal(bodies[0], d.Body) {
		t.Errorf("body %q, want %q", bodies[0], d.Body)
	}
	want := http.Header{
		"Content-Type": {d.ContentType}, "Content-Length": {strconv.Itoa(len(d.Body))}, "User-Agent": {"hookonce/test"},
		"Idempotency-Key": {d.IdempotencyKey}, "Hookonce-Event-Id": {d.EventID}, "Hookonce-Event-Type": {"invoice.paid"},
		"Hookonce-Attempt": {"7"},
	}
	if diff := cmp.Diff(want, requests[0].Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if requests[0].Method != http.MethodPost || requests[0].RequestURI != "/hooks?x=1" {
		t.Errorf("request line %s %s", requests[0].Method, requests[0].RequestURI)
	}
}

func TestPostLeavesOutAnEventTypeThatIsNoHeader(t *testing.T) {
	s := newSink(t, func(http.ResponseWriter, *http.Request) {})
	for _, eventType := range []string{"", "a\nb", "zahlung.erfüllt", "a\x7f"} {
		d := delivery("sink", 1)
		d.EventType, d.ContentType = eventType, ""
		if answer, err := postOnce(t, Destination{URL: s.URL}, d); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("post with event type %q: %d, %v", eventType, answer.Status, err)
		}
	}
	requests, _ := s.seen()
	for _, r := range requests {
		if r.Header.Values(EventTypeHeader) != nil || r.Header.Values("Content-Type") != nil {
			t.Errorf("headers %v, want neither %s nor Content-Type", r.Header, EventTypeHeader)
		}
	}
}

func TestPostFollowsNoRedirect(t *testing.T) {
	var followed atomic.Int32
	target := newSink(t, func(http.ResponseWriter, *http.Request) { followed.Add(1) })
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := newSink(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target.URL, code)
		})
		answer, err := postOnce(t, Destination{URL: s.URL}, delivery("sink", 1))
		if err != nil || answer.Status != code {
			t.Errorf("%d: got %d, %v", code, answer.Status, err)
		}
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestPostIgnoresProxies(t *testing.T) {
	proxy := newSink(t, func(http.ResponseWriter, *http.Request) {})
	t.Setenv("HTTP_PROXY", proxy.URL)
	if newTransport(newDialer(nil)).Proxy != nil {
		t.Error("the transport takes a proxy from the environment")
	}
}

func TestPostReadsLittleOfAHugeAnswer(t *testing.T) {
	var written atomic.Int64
	ended := make(chan struct{})
	s := newSink(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		chunk := make([]byte, 1<<20)
		for written.Load() < 5<<30 {
			n, err := w.Write(chunk)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	answer, err := postOnce(t, Destination{URL: s.URL}, delivery("sink", 1))
	if err != nil || answer.Status != http.StatusOK {
		t.Fatalf("post: %d, %v", answer.Status, err)
	}
	<-ended
	if n := written.Load(); n > 64<<20 {
		t.Errorf("the destination could write %d bytes, want the connection closed early", n)
	}
}

func TestPostGivesUpOnASilentDestination(t *testing.T) {
	release := make(chan struct{})
	s := newSink(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	defer close(release)
	_, err := postOnce(t, Destination{URL: s.URL, Timeout: 50 * time.Millisecond}, delivery("sink", 1))
	if got := Classify(Destination{}, 1, Answer{}, err, 0).Reason; got != "no complete answer within the timeout" {
		t.Errorf("reason %q of %v", got, err)
	}
}

func TestPostToWhatIsNotHTTP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprint(conn, "220 secret banner\r\n\r\n")
			_ = conn.Close()
		}
	}()
	_, err = postOnce(t, Destination{URL: "http://" + listener.Addr().String()}, delivery("sink", 1))
	verdict := Classify(Destination{}, 1, Answer{}, err, 0)
	if err == nil || strings.Contains(verdict.Reason, "banner") {
		t.Errorf("verdict %+v of %v", verdict, err)
	}
	_, err = postOnce(t, Destination{URL: "http://bad host/"}, delivery("sink", 1))
	if got := Classify(Destination{}, 1, Answer{}, err, 0).Reason; got != "request cannot be made from the destination's URL" {
		t.Errorf("reason %q of %v", got, err)
	}
}
