// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
	"github.com/hookonce/hookonce/receiver/verify"
)

// taken is an endpoint with one place, which is taken, and nowhere to wait.
type taken struct {
	*endpoint

	// verified counts the requests whose signatures were looked at.
	verified atomic.Int64
	// leave gives the place back.
	leave func()
}

func newTaken(t *testing.T) *taken {
	t.Helper()
	x := &taken{}
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	x.endpoint = newEndpoint(t, func(e *endpoint) {
		e.options.MaxInFlight, e.options.MaxWaiting = 1, -1
		e.settings.MaxBodyBytes = 1 << 20
		e.options.Verify = func(
			s scheme.Scheme, secrets []receiver.Secret, r *receiver.Request, now time.Time, tolerance time.Duration,
		) (receiver.Verified, error) {
			x.verified.Add(1)
			return verify.Verify(s, secrets, r, now, tolerance)
		}
		e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
			entered <- struct{}{}
			<-leave
			return processed(), nil
		}
	})
	r, answered := signed(t, body), make(chan struct{})
	go func() {
		defer close(answered)
		wantAnswer(t, x.post(r), http.StatusOK, `{"status":"processed"}`)
	}()
	<-entered
	x.leave = func() {
		close(leave)
		<-answered
	}
	return x
}

const notFoundRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// connect opens a connection that has had a request, so that the server waits for another.
func (x *taken) connect(t *testing.T, address string) *wire {
	t.Helper()
	w := dial(t, address)
	w.write(notFoundRequest)
	if status, answer, _ := w.answer(); status != http.StatusNotFound {
		t.Fatalf("got %d %s", status, answer)
	}
	return w
}

func wantBusy(t *testing.T, w *wire) http.Header {
	t.Helper()
	status, answer, header := w.answer()
	if status != http.StatusServiceUnavailable || answer != `{"error":"busy"}` || header.Get("Retry-After") != "1" ||
		header.Get("Content-Type") != "application/json" || header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("got %d %s, %v", status, answer, header)
	}
	return header
}

// TestTurnedAwayUnread: while the gate is shut nobody's signature is looked at, and senders of small bodies keep their
// connections, on which they are served when it is open. The requests come in one piece, in several, and chunked.
func TestTurnedAwayUnread(t *testing.T) {
	t.Parallel()
	head := "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + signatureLine(t, body)
	whole := head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	chunked := head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for name, test := range map[string]struct {
		first, rest string
		kept        bool
	}{
		"whole":      {whole, "", true},
		"two pieces": {whole[:len(whole)-1], whole[len(whole)-1:], true},
		"two":        {whole + whole, "", true},
		"chunked":    {chunked, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTaken(t)
			address, _ := x.bounded(t, 10)
			w, before := x.connect(t, address), x.verified.Load()
			w.write(test.first)
			if test.rest != "" {
				w.write(test.rest)
			}
			for range strings.Count(test.first, "POST") {
				if closed := wantBusy(t, w).Get("Connection") == "close"; closed == test.kept {
					t.Errorf("closed %t", closed)
				}
			}
			if n := x.verified.Load() - before; n != 0 {
				t.Errorf("%d requests were verified", n)
			}
			x.leave()
			if !test.kept {
				w = dial(t, address)
			}
			w.write(whole)
			if status, answer, _ := w.answer(); status != http.StatusOK {
				t.Errorf("got %d %s", status, answer)
			}
		})
	}
}

// TestTurnedAwayBeforeALargeBody: the answer does not wait for a body that is not small.
func TestTurnedAwayBeforeALargeBody(t *testing.T) {
	t.Parallel()
	x := newTaken(t)
	defer x.leave()
	address, _ := x.bounded(t, 10)
	w := x.connect(t, address)
	w.write("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + forged + "Content-Length: 100000\r\n\r\n")
	if header := wantBusy(t, w); header.Get("Connection") != "close" {
		t.Errorf("got %v", header)
	}
}

// TestOnlyDeliveriesAreTurnedAwayUnparsed: what is not an ordinary delivery gets net/http's answer, or the handler's, also
// while the gate is shut, and everything that is answered is told.
func TestOnlyDeliveriesAreTurnedAwayUnparsed(t *testing.T) {
	t.Parallel()
	x := newTaken(t)
	defer x.leave()
	address, _ := x.bounded(t, 10)
	post := "POST " + path + " HTTP/1.1\r\nHost: x\r\n"
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"delivery":            {post + "content-length:  2 \r\n\r\n{}", 503},
		"another path":        {"POST " + path + "x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", 404},
		"another method":      {"PUT " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", 405},
		"two lengths":         {post + "Content-Length: 3\r\nContent-Length: 2\r\n\r\n{}", 400},
		"both framings":       {post + forged + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 503},
		"space in a name":     {post + "Content-Length : 2\r\n\r\n{}", 400},
		"continued line":      {post + "X: x\r\n Content-Length: 2\r\n\r\n", 401},
		"line without colon":  {post + "X\r\nContent-Length: 2\r\n\r\n{}", 400},
		"bare line feed":      {post + "X: x\nContent-Length: 3\r\nContent-Length: 2\r\n\r\n{}", 400},
		"bare return":         {post + "X: \rx\r\nContent-Length: 2\r\n\r\n{}", 400},
		"negative length":     {post + "Content-Length: -2\r\n\r\n{}", 400},
		"length of one sign":  {post + "Content-Length: +2\r\n\r\n{}", 400},
		"length after a tab":  {post + "Content-Length:\t2\r\n\r\n{}", 503},
		"other white space":   {post + "Content-Length: 2\u00a0\r\n\r\n{}", 400},
		"control in a name":   {post + "Transfer-Encoding\v: chunked\r\nContent-Length: 2\r\n\r\n{}", 400},
		"control in a value":  {post + "X: \x00\r\nContent-Length: 2\r\n\r\n{}", 400},
		"name beyond ASCII":   {post + "Content-Lengt\u0125: 3\r\nContent-Length: 2\r\n\r\n{}", 400},
		"no name":             {post + ": x\r\nContent-Length: 2\r\n\r\n{}", 400},
		"unsigned, no length": {post + "\r\n", 401},
		"last request":        {post + "Connection: close\r\nContent-Length: 2\r\n\r\n{}", 401},
		"upgrade":             {post + "Upgrade: h2c\r\nContent-Length: 2\r\n\r\n{}", 401},
		"expects":             {post + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", 401},
	} {
		t.Run(name, func(t *testing.T) {
			w := x.connect(t, address)
			before := len(x.told())
			w.write(test.request)
			status, answer, _ := w.answer()
			if status != test.status {
				t.Errorf("got %d %s, want %d", status, answer, test.status)
			}
			// The server itself answers what is malformed.
			if told := x.told()[before:]; status != http.StatusBadRequest && (len(told) != 1 || told[0].Status != status) {
				t.Errorf("got %d, told %+v", status, told)
			}
		})
	}
}

// TestABodyIsNotARequest: bytes within a body that look like a delivery are not answered as one.
func TestABodyIsNotARequest(t *testing.T) {
	t.Parallel()
	x := newTaken(t)
	defer x.leave()
	address, _ := x.bounded(t, 10)
	w := dial(t, address)
	inner := "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
	w.write(fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", path, 2*len(inner)))
	if status, answer, header := w.answer(); status != http.StatusMethodNotAllowed || header.Get("Connection") != "close" {
		t.Fatalf("got %d %s, %v", status, answer, header)
	}
	// The connection is read for a while yet.
	w.write(inner)
	if rest, _ := io.ReadAll(w.reader); len(rest) > 0 {
		t.Errorf("got %q", rest)
	}
}

// TestTheRestOfARequestIsNotARequest: what is read when the server holds the beginning of a request already is the rest of
// it, also if that looks like a delivery. To take it for one would leave the beginning to whoever sends next, which behind a
// proxy is somebody else.
func TestTheRestOfARequestIsNotARequest(t *testing.T) {
	t.Parallel()
	x := newTaken(t)
	defer x.leave()
	address, _ := x.bounded(t, 10)
	rest := "POST " + path + " HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
	// As much as the server reads at once, which ends with the given text.
	fill := func(end string) string {
		head := "PUT " + path + " HTTP/1.1\r\nHost: x\r\nY: "
		return head + strings.Repeat("y", 4096-len(head)-len(end)) + end
	}
	delivery := "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
	for name, test := range map[string]struct {
		// first is answered before the rest is sent, if it is a whole request.
		first, request string
		statuses       []int
	}{
		"within a line":               {"", fill("\r\nX: ") + rest, []int{405}},
		"after a line":                {"", fill("\r\n") + rest, []int{400}},
		"after one was turned away":   {delivery, fill("\r\n") + rest, []int{503, 400}},
		"after the start of a word":   {notFoundRequest + "GE", delivery, []int{404, 405}},
		"after lines that came along": {notFoundRequest + "PUT " + path + " HTTP/1.1\r\nHost: x\r\n", delivery, []int{404, 400}},
	} {
		t.Run(name, func(t *testing.T) {
			w := x.connect(t, address)
			statuses := test.statuses
			if test.first != "" {
				w.write(test.first)
				if status, answer, _ := w.answer(); status != statuses[0] {
					t.Fatalf("got %d %s, want %d", status, answer, statuses[0])
				}
				statuses = statuses[1:]
			}
			w.write(test.request)
			if status, answer, _ := w.answer(); status != statuses[0] {
				t.Errorf("got %d %s, want %d", status, answer, statuses[0])
			}
		})
	}
}

// told returns the outcomes so far.
func (e *endpoint) told() (outcomes []ingest.Outcome) {
	e.locked(func() { outcomes = append(outcomes, e.outcomes...) })
	return outcomes
}

// TestTurnedAwayConnectionsStay: one whose requests are turned away is in use. Of two connections, of which one more may
// take the place of the one unused for longest, it is not the one that is closed.
func TestTurnedAwayConnectionsStay(t *testing.T) {
	t.Parallel()
	x := newTaken(t)
	defer x.leave()
	address, _ := x.bounded(t, 2)
	used, unused := x.connect(t, address), x.connect(t, address)
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), forged, body)
	// Each is listed before it is answered so, which is later than its first answer.
	for _, w := range []*wire{unused, used} {
		w.write(request)
		wantBusy(t, w)
	}
	x.connect(t, address)
	if _, err := unused.reader.ReadByte(); err == nil {
		t.Error("the unused connection got something")
	}
	used.write(request)
	wantBusy(t, used)
}
