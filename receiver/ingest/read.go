// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// firstChunk is how many bytes a body may be declared to have and be believed. For a longer one so many bytes are held once
// its first has arrived: a sender must send bytes to occupy more.
const firstChunk = 8 << 10

// checkHead refuses what can be refused before the body is read, so that Expect: 100-continue is never granted in vain.
func (x *exchange) checkHead() *refusal {
	switch {
	case x.settings.Path == "":
		return notConfigured
	case !x.isPath():
		return notFound
	case x.r.Method != http.MethodPost:
		return nil
	case !isIdentity(x.r.Header["Content-Encoding"]):
		return unknownEncoding
	case x.r.ContentLength > x.settings.MaxBodyBytes:
		return tooLarge
	case !x.hasSignature():
		return unsigned
	}
	return nil
}

// isPath says whether the request is for the endpoint's path, in the one writing of it.
func (x *exchange) isPath() bool {
	if x.settings.plainPath && x.r.URL.RawPath == "" {
		return x.r.URL.Path == x.settings.Path
	}
	return x.r.URL.EscapedPath() == x.settings.Path
}

// hasSignature says whether there is anything to verify; without, the body is not worth reading. Whether the scheme can be
// verified with is left to the verification, and so is a signature in the body.
func (x *exchange) hasSignature() bool {
	if x.settings.signature == "" {
		return true
	}
	values := x.r.Header[x.settings.signature]
	if len(values) == 0 && x.settings.alias != "" {
		values = x.r.Header[x.settings.alias]
	}
	for _, value := range values {
		if strings.TrimSpace(value) != "" {
			return true
		}
	}
	return false
}

// isIdentity says whether the body is sent as it is. Signatures are over the bytes that arrive, and providers do not
// compress, so nothing is ever decompressed.
func isIdentity(encodings []string) bool {
	for _, value := range encodings {
		if trimmed := strings.TrimSpace(value); trimmed != "" && !strings.EqualFold(trimmed, "identity") {
			return false
		}
	}
	return true
}

// readBody reads the whole body or refuses it: it is never cut. Most bodies are short, were declared, and have arrived with
// their headers: they take one read into one piece of memory. While more is to come, a body makes way for others if its
// sender falls behind.
func (x *exchange) readBody() (refused *refusal) {
	declared := x.r.ContentLength
	if declared == 0 {
		return nil
	}
	a := &x.arrival
	a.small, a.expire = declared > 0 && declared <= smallBody, x
	// Room for one byte, which is not counted: who declares much and sends nothing occupies nothing.
	size := int64(1)
	if declared > 0 && declared <= firstChunk {
		size = declared
		if !x.hold(size) {
			return x.crowded()
		}
		a.held = size
	}
	x.body = make([]byte, 0, size)
	a.pace = newPace(wallClock())
	x.readBy(a.pace.deadline)
	x.handler.room.park(a)
	defer x.handler.room.enter(a.small)()
	defer func() {
		// Who evicts it sets a deadline for a connection that may just have been read to the end: it is not used again.
		if x.handler.room.unpark(a) && refused != busy {
			refused = x.evicted()
		}
	}()
	for {
		before := len(x.body)
		done, err := x.readMore()
		if err != nil {
			return x.broken(err)
		}
		if done && int64(len(x.body)) <= x.settings.MaxBodyBytes {
			return nil
		}
		if refused := x.awaitMore(len(x.body) - before); refused != nil {
			return refused
		}
	}
}

// awaitMore gets ready for more of the body: what is held for it grows with what has arrived, and the time that is left for
// the rest with it.
func (x *exchange) awaitMore(arrived int) *refusal {
	x.late = true
	x.handler.room.giveWay(x.arrival.small)
	if int64(len(x.body)) > x.settings.MaxBodyBytes {
		x.closeConnection()
		return tooLarge
	}
	if len(x.body) == cap(x.body) && !x.grow() {
		return x.crowded()
	}
	now := wallClock()
	if !x.handler.room.update(&x.arrival, func() {
		x.arrival.pace.advance(now, arrived)
		x.readBy(x.arrival.pace.deadline)
	}) {
		return tooSlow
	}
	return nil
}

// readMore reads once, into the room that there is, and says whether that was the end of the body.
func (x *exchange) readMore() (done bool, err error) {
	n, err := x.r.Body.Read(x.body[len(x.body):cap(x.body)])
	x.body = x.body[:len(x.body)+n]
	switch {
	case int64(len(x.body)) == x.r.ContentLength:
		return true, nil
	case errors.Is(err, io.EOF):
		if x.r.ContentLength > 0 {
			return false, io.ErrUnexpectedEOF
		}
		return true, nil
	}
	return false, err
}

// broken is the answer to a body that could not be read to its end.
func (x *exchange) broken(err error) *refusal {
	x.closeConnection()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return tooSlow
	}
	return incomplete
}

// evicted is the answer to a body that has made way. Its connection is closed without waiting for the rest: it has waited.
func (x *exchange) evicted() *refusal {
	x.w.Header().Set("Connection", "close")
	x.expire()
	return tooSlow
}

// expire makes the read that waits for more of the body fail.
func (x *exchange) expire() { x.readBy(longAgo) }

func (x *exchange) crowded() *refusal {
	x.closeConnection()
	return busy
}

// hold counts so many bytes more as held, if need be in place of bodies that do not come.
func (x *exchange) hold(n int64) bool {
	room, limit, small := &x.handler.room, x.settings.MaxInFlightBytes, x.arrival.small
	return room.hold(n, limit, small) || room.evict(wallClock(), n, limit, &x.arrival)
}

// grow makes more room for the body, up to what was declared or, if nothing was, one byte more than may come: the one that
// is too many. A small body gets all of it when its first chunk has arrived.
func (x *exchange) grow() bool {
	size, most := max(firstChunk, 2*int64(cap(x.body))), x.settings.MaxBodyBytes+1
	if declared := x.r.ContentLength; declared > 0 {
		most = declared
	}
	if x.arrival.small && len(x.body) >= firstChunk {
		size = most
	}
	size = min(size, most)
	more := size - int64(cap(x.body))
	if cap(x.body) == 1 {
		more = size
	}
	if !x.hold(more) {
		return false
	}
	if !x.handler.room.update(&x.arrival, func() { x.arrival.held += more }) {
		x.handler.room.release(more, x.arrival.small)
		return false
	}
	grown := make([]byte, len(x.body), size)
	copy(grown, x.body)
	x.body = grown
	return true
}

// longAgo is a deadline that is over.
var longAgo = time.Unix(1, 0)
