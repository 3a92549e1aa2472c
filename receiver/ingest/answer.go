// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// How long the provider is asked to wait. Another delivery in flight, or a crowd, is over in a moment.
const (
	retrySoon  = time.Second
	retryLater = 5 * time.Second
)

// lingering is how long a refused body is still read after the answer.
const lingering = 500 * time.Millisecond

// refusal is an answer that is not the ledger's.
type refusal struct {
	status int
	cause  string
	// rejected says that it counts as a rejection.
	rejected bool
	// retryAfter is set on every 503.
	retryAfter time.Duration
	// header and value are one header more, if any.
	header, value string
}

// The refusals that are not a verification's.
var (
	notFound        = &refusal{status: http.StatusNotFound, cause: "not_found"}
	wrongMethod     = &refusal{status: http.StatusMethodNotAllowed, cause: "method_not_allowed"}
	unknownEncoding = &refusal{
		status: http.StatusUnsupportedMediaType, cause: "unsupported_encoding", rejected: true,
		header: "Accept-Encoding", value: "identity",
	}
	unsigned      = &refusal{status: http.StatusUnauthorized, cause: receiver.CauseMissingHeader, rejected: true}
	tooSlow       = &refusal{status: http.StatusRequestTimeout, cause: "slow_body", rejected: true}
	tooLarge      = &refusal{status: http.StatusRequestEntityTooLarge, cause: "body_too_large", rejected: true}
	incomplete    = &refusal{status: http.StatusBadRequest, cause: "incomplete_body", rejected: true}
	conflict      = &refusal{status: http.StatusUnprocessableEntity, cause: receiver.CauseBodyDiffers, rejected: true}
	notConfigured = &refusal{status: http.StatusServiceUnavailable, cause: "not_configured", retryAfter: retryLater}
	busy          = &refusal{status: http.StatusServiceUnavailable, cause: "busy", retryAfter: retrySoon}
	inFlight      = &refusal{status: http.StatusServiceUnavailable, cause: "in_flight", retryAfter: retrySoon}
	unavailable   = &refusal{status: http.StatusServiceUnavailable, cause: "unavailable", retryAfter: retryLater}
	internal      = &refusal{status: http.StatusServiceUnavailable, cause: "internal", retryAfter: retryLater}
)

// body has the cause, a fixed word, so that nothing of the request comes back.
func (r *refusal) body() []byte { return []byte(`{"error":"` + r.cause + `"}`) }

// refuse answers with the cause.
func (x *exchange) refuse(r *refusal) {
	x.outcome.Cause = r.cause
	if r.rejected {
		x.handler.options.Count(receiver.CountRejected, r.cause)
	}
	if r.header != "" {
		x.w.Header().Set(r.header, r.value)
	}
	if r.retryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(int(r.retryAfter/time.Second)))
	}
	x.answer(r.status, r.body())
}

// The values of headers that are the same in every answer. They are shared, and never changed.
var (
	typeJSON = []string{"application/json"}
	typeText = []string{"text/plain; charset=utf-8"}
	noSniff  = []string{"nosniff"}
)

// answer sends a JSON document.
func (x *exchange) answer(status int, body []byte) {
	header := x.w.Header()
	header["Content-Type"] = typeJSON
	x.send(status, header, body)
}

// acknowledged sends the answer of success: the body that the provider insists on, or else the given one.
func (x *exchange) acknowledged(status int, body []byte) {
	header := x.w.Header()
	header["Content-Type"] = typeJSON
	if x.settings.acknowledgment != nil {
		body, header["Content-Type"] = x.settings.acknowledgment, x.settings.acknowledgmentType
	}
	x.send(status, header, body)
}

func (x *exchange) send(status int, header http.Header, body []byte) {
	x.outcome.Status = status
	header["X-Content-Type-Options"] = noSniff
	if len(body) == 0 || len(body) > counted {
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	x.w.WriteHeader(status)
	// A provider that is gone gets the same answer when it retries.
	_, _ = x.w.Write(body)
}

// counted is up to how many bytes net/http counts by itself.
const counted = 1024

// closeConnection makes the server answer at once instead of first reading, and throwing away, the body that is refused.
// After the answer it goes on reading for lingering, so that what is on its way does not reset the connection before the
// sender has read the answer.
func (x *exchange) closeConnection() {
	if x.r.ContentLength == 0 {
		return
	}
	x.w.Header().Set("Connection", "close")
	x.readBy(wallClock().Add(lingering))
}

// finish gives back what the request occupied and tells of it. It is deferred itself, so that it sees a panic.
func (x *exchange) finish() {
	if cause := recover(); cause != nil {
		defer x.release(x.handler.options.Now())
		x.recovered(cause)
	}
	now := x.handler.options.Now()
	x.release(now)
	if x.outcome.Status == 0 {
		return
	}
	x.outcome.Duration = now.Sub(x.started)
	x.handler.options.Answered(x.outcome)
}

// release gives back the place and the bytes; a second time it does nothing.
func (x *exchange) release(now time.Time) {
	if !x.recording.IsZero() {
		// A batch keeps its place for as long as several requests would, one after the other.
		x.handler.gate.leave(now.Sub(x.recording)/time.Duration(max(x.rounds, 1)), x.fresh)
		x.recording = time.Time{}
	}
	if x.arrival.held > 0 {
		x.handler.room.release(x.arrival.held, x.arrival.small)
		x.arrival.held = 0
	}
}

// recovered turns a panic into 503.
func (x *exchange) recovered(cause any) {
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's own way to drop a connection is passed on
	}
	x.handler.panicked(cause)
	if x.outcome.Status == 0 {
		x.refuse(internal)
	}
}

// panicked logs a panic. Its text is logged only if it is the runtime's own, since any other may hold the body.
func (h *Handler) panicked(cause any) {
	text := fmt.Sprintf("a value of type %T", cause)
	if err, ok := cause.(error); ok {
		if runtimeError, ok := errors.AsType[runtime.Error](err); ok {
			text = runtimeError.Error()
		}
	}
	h.options.Log.Error("A request panicked", "panic", text, "stack", string(debug.Stack()))
}
