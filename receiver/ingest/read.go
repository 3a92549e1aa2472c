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
// their headers: they take one read into one piece of memory.
func (x *exchange) readBody() *refusal {
	declared := x.r.ContentLength
	if declared == 0 {
		return nil
	}
	x.small = declared > 0 && declared <= smallBody
	if declared < 0 || declared > firstChunk {
		// Room for one byte, which is not counted: who sends nothing occupies nothing.
		x.body = make([]byte, 0, 1)
		return x.readSlowly(newPace(wallClock()))
	}
	if !x.hold(declared) {
		return x.crowded()
	}
	x.held = declared
	x.body = make([]byte, 0, declared)
	pace := newPace(wallClock())
	x.readBy(pace.deadline)
	done, err := x.readMore()
	if err != nil {
		return x.broken(err)
	}
	if done {
		return nil
	}
	pace.advance(wallClock(), len(x.body))
	return x.readSlowly(pace)
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

// readSlowly reads a body that did not come at once. What is held for it grows with what has arrived, and the time that is
// left for the rest with it. Meanwhile it gives way to others if its sender falls behind.
func (x *exchange) readSlowly(p pace) (refused *refusal) {
	x.late = true
	slow := &slowBody{small: x.small, held: x.held, pace: p, expire: func() { x.readBy(longAgo) }}
	x.handler.room.park(slow)
	defer func() {
		evicted := false
		// Who evicts it sets a deadline for a connection that may just have been read to the end: it is not used again.
		if x.held, evicted = x.handler.room.unpark(slow); evicted && refused == nil {
			refused = x.broken(os.ErrDeadlineExceeded)
		}
	}()
	return x.readOn(slow)
}

func (x *exchange) readOn(slow *slowBody) *refusal {
	room := &x.handler.room
	for {
		if int64(len(x.body)) > x.settings.MaxBodyBytes {
			x.closeConnection()
			return tooLarge
		}
		if len(x.body) == cap(x.body) && !x.grow(slow) {
			return x.crowded()
		}
		if !room.update(slow, func() { x.readBy(slow.pace.deadline) }) {
			return x.broken(os.ErrDeadlineExceeded)
		}
		before := len(x.body)
		done, err := x.readMore()
		if err != nil {
			return x.broken(err)
		}
		if done && int64(len(x.body)) <= x.settings.MaxBodyBytes {
			return nil
		}
		room.update(slow, func() { slow.pace.advance(wallClock(), len(x.body)-before) })
	}
}

// broken is the answer to a body that could not be read to its end.
func (x *exchange) broken(err error) *refusal {
	x.closeConnection()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return tooSlow
	}
	return incomplete
}

func (x *exchange) crowded() *refusal {
	x.closeConnection()
	return busy
}

// hold counts so many bytes more as held, if need be in place of bodies that do not come.
func (x *exchange) hold(n int64) bool {
	room, limit := &x.handler.room, x.settings.MaxInFlightBytes
	return room.hold(n, limit, x.small) || room.evict(wallClock(), n, limit, x.small)
}

// grow makes more room for the body, up to what was declared or, if nothing was, one byte more than may come: the one that
// is too many. A small body gets all of it when its first chunk has arrived.
func (x *exchange) grow(slow *slowBody) bool {
	size, most := max(firstChunk, 2*int64(cap(x.body))), x.settings.MaxBodyBytes+1
	if declared := x.r.ContentLength; declared > 0 {
		most = declared
	}
	if x.small && len(x.body) >= firstChunk {
		size = most
	}
	size = min(size, most)
	more := size - slow.held
	if !x.hold(more) {
		return false
	}
	if !x.handler.room.update(slow, func() { slow.held = size }) {
		x.handler.room.release(more, x.small)
		return false
	}
	grown := make([]byte, len(x.body), size)
	copy(grown, x.body)
	x.body = grown
	return true
}

// longAgo is a deadline that is over.
var longAgo = time.Unix(1, 0)
