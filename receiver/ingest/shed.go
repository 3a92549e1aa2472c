// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// While the gate is shut, a request is turned away before its body is read and its signature verified, by a look that takes
// no place: who cannot be served must not take the time of those who can. Most are turned away even before net/http has
// parsed them, for less than half of the cost. Senders that are turned away keep their connections: a new one would cost
// more than the answer.

// turnAway refuses a request whose body has not been read. A small body has come with its headers, or is about to come, and
// is skipped; the connection of any other is closed.
func (x *exchange) turnAway() {
	if length := x.r.ContentLength; length >= 0 && length <= smallBody {
		x.readBy(wallClock().Add(lag))
	} else {
		x.closeConnection()
	}
	x.refuse(busy)
}

// awayAnswer is what net/http would make of the refusal.
var awayAnswer = fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nRetry-After: %d\r\nX-Content-Type-Options: %s\r\n"+
	"Content-Length: %d\r\n\r\n%s", busy.status, http.StatusText(busy.status), typeJSON[0], busy.retryAfter/time.Second, noSniff[0],
	len(busy.body()), busy.body())

// turnAway answers a request in place of the server, if the bytes are a whole one.
func (b *boundConn) turnAway(request []byte) (away bool, err error) {
	handler := b.connections.handler
	if !isDelivery(request, handler.prepare(handler.options.Settings()).requestLine) {
		return false, nil
	}
	handler.options.Answered(Outcome{Status: busy.status, Cause: busy.cause})
	// As the server does between two requests, except that it goes on with the wait that it has begun.
	b.connections.moved(b, http.StateIdle)
	b.waited.Store(true)
	if err := b.SetDeadline(wallClock().Add(IdleTimeout)); err != nil {
		return true, err //nolint:wrapcheck // as any other error of the connection
	}
	if _, err := b.Write(awayAnswer); err != nil {
		return true, err //nolint:wrapcheck // as any other error of the connection
	}
	return true, nil
}

// isDelivery says whether the bytes are exactly one request for the path, with a body of a declared length, in which nothing
// is out of the ordinary: then the next byte begins another one. All others are left to net/http.
func isDelivery(request, requestLine []byte) bool {
	rest, found := bytes.CutPrefix(request, requestLine)
	if !found || len(requestLine) == 0 {
		return false
	}
	length := -1
	for {
		line, after, found := bytes.Cut(rest, []byte("\r\n"))
		if !found {
			return false
		}
		if rest = after; len(line) == 0 {
			return length == len(rest)
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		switch {
		case !found || len(name) == 0 || !isPlain(line) || bytes.ContainsAny(name, " \t"):
			return false
		case bytes.EqualFold(name, []byte("Content-Length")):
			n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 31)
			if err != nil || length >= 0 {
				return false
			}
			length = int(n)
		case bytes.EqualFold(name, []byte("Transfer-Encoding")), bytes.EqualFold(name, []byte("Connection")),
			bytes.EqualFold(name, []byte("Expect")), bytes.EqualFold(name, []byte("Upgrade")):
			return false
		}
	}
}

// isPlain says whether a line has only what anybody reads alike: no control characters and nothing beyond ASCII, with which a
// name could pass for another one at a proxy.
func isPlain(line []byte) bool {
	for _, c := range line {
		if c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}
