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
	notFound    = &refusal{status: http.StatusNotFound, cause: "not_found"}
	wrongMethod = &refusal{
		status: http.StatusMethodNotAllowed, cause: "method_not_allowed",
		header: "Allow", value: http.MethodPost,
	}
	unknownEncoding = &refusal{
		status: http.StatusUnsupportedMediaType, cause: "unsupported_encoding", rejected: true,
		header: "Accept-Encoding", value: "identity",
	}
	unsigned      = &refusal{status: http.StatusUnauthorized, cause: receiver.CauseMissingHeader, rejected: true}
	tooSlow       = &refusal{status: http.StatusRequestTimeout, cause: "slow_body", rejected: true}
	tooLarge      = &refusal{status: http.StatusRequestEntityTooLarge, cause: "body_too_large", rejected: true}
	incomplete    = &refusal{status: http.StatusBadRequest, cause: "incomplete_body", rejected: true}
	conflict      = &refusal{status: http.StatusUnprocessableEntity, cause: "body_differs", rejected: true}
	notConfigured = &refusal{status: http.StatusServiceUnavailable, cause: "not_configured", retryAfter: retryLater}
	busy          = &refusal{status: http.StatusServiceUnavailable, cause: "busy", retryAfter: retrySoon}
	inFlight      = &refusal{status: http.StatusServiceUnavailable, cause: "in_flight", retryAfter: retrySoon}
	unavailable   = &refusal{status: http.StatusServiceUnavailable, cause: "unavailable", retryAfter: retryLater}
	internal      = &refusal{status: http.StatusServiceUnavailable, cause: "internal", retryAfter: retryLater}
)

// refuse answers with the cause. Causes are fixed words, so that nothing of the request comes back.
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
	x.answer(r.status, []byte(`{"error":"`+r.cause+`"}`))
}

func (x *exchange) answer(status int, body []byte) {
	x.outcome.Status = status
	header := x.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	// A provider that is gone gets the same answer when it retries.
	_, _ = x.w.Write(body)
}

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

func (x *exchange) finish() {
	if x.outcome.Status == 0 {
		return
	}
	x.outcome.Duration = x.handler.options.Now().Sub(x.started)
	x.handler.options.Answered(x.outcome)
}

// recover turns a panic into 503. Its text is logged only if it is the runtime's own, since any other may hold the body.
func (x *exchange) recover() {
	cause := recover()
	if cause == nil {
		return
	}
	text := fmt.Sprintf("a value of type %T", cause)
	if err, ok := cause.(error); ok {
		if errors.Is(err, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's own way to drop a connection is passed on
		}
		if runtimeError, ok := errors.AsType[runtime.Error](err); ok {
			text = runtimeError.Error()
		}
	}
	x.handler.options.Log.Error("A request panicked", "panic", text, "stack", string(debug.Stack()))
	if x.outcome.Status == 0 {
		x.refuse(internal)
	}
}
