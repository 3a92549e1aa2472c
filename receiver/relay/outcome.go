// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookonce/hookonce/receiver"
)

// jitterFraction is the part of a delay by which it may be shorter or longer, so that deliveries that failed together are
// not attempted together. The ladder keeps its total on average.
const jitterFraction = 0.1

// Verdict is what one attempt means for its delivery.
type Verdict struct {
	Outcome receiver.Outcome
	// Delay before the next attempt; for receiver.Retry only.
	Delay time.Duration
	// Reason says why the attempt did not succeed. It holds nothing of the URL but the host's name, and nothing that the
	// destination wrote.
	Reason string
}

// Answer is what a destination answered to an attempt.
type Answer struct {
	// Status of HTTP. 0 where there is none, and the delivery was taken.
	Status int
	// RetryAfter is how long it wants to be left alone; 0 if it did not say.
	RetryAfter time.Duration
}

// MaxRetryAfter is the longest Retry-After that is heeded.
const MaxRetryAfter = 24 * time.Hour

// Classify decides what an attempt means. A 2xx is a success, whatever became of the answer's body, and so is an answer
// without a status and without an error; every other status,
// redirects included, and every error is a failure. The attempt with number n, from 1, is followed by one more after
// delays[n-1], or after the answer's Retry-After where that is longer; without such a delay the delivery is exhausted. Where
// client errors end deliveries, a 4xx other than 408, 425 and 429 exhausts it at once. The jitter, from -1 to 1, moves the
// delay by up to a tenth.
func Classify(to Destination, attempt int, answer Answer, err error, jitter float64) Verdict {
	if err == nil && (answer.Status == 0 || answer.Status >= 200 && answer.Status <= 299) {
		return Verdict{Outcome: receiver.Delivered}
	}
	verdict := Verdict{Outcome: receiver.Exhausted, Reason: reason(answer.Status, err)}
	if to.ClientErrorsEnd && blamesDelivery(answer, err) {
		verdict.Reason += ", and client errors are final here"
		return verdict
	}
	if rung := max(attempt, 1) - 1; rung < len(to.Delays) {
		verdict.Outcome = receiver.Retry
		verdict.Delay = max(spread(to.Delays[rung], jitter), min(answer.RetryAfter, MaxRetryAfter))
	}
	return verdict
}

// blamesDelivery says that the same delivery would get the same answer at any time: all of 4xx but 408 Request Timeout,
// 425 Too Early and 429 Too Many Requests, and a refusal that says so.
func blamesDelivery(answer Answer, err error) bool {
	var refused *refusal
	if err != nil {
		return errors.As(err, &refused) && refused.blames
	}
	switch answer.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return answer.Status >= 400 && answer.Status <= 499
}

// works says whether an attempt shows a destination that works, though it may not like this delivery.
func works(answer Answer, err error) bool {
	return err == nil && answer.Status < 400 || blamesDelivery(answer, err)
}

// retryAfter reads the header of RFC 9110, section 10.2.3: seconds, or a date. A date is compared with the answer's own
// Date where it has one, so that the clocks need not agree.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(header.Get("Date")); err == nil {
		now = theirs
	}
	return max(0, at.Sub(now))
}

func spread(delay time.Duration, jitter float64) time.Duration {
	return delay + time.Duration(float64(delay)*jitterFraction*jitter)
}

func reason(status int, err error) string {
	switch {
	case err != nil:
		return errorReason(err)
	case status >= 300 && status <= 399:
		return fmt.Sprintf("answered %d, a redirect, and redirects are not followed", status)
	default:
		return "answered " + strconv.Itoa(status)
	}
}

// errorReason names the error's class in our own words: an error's text may quote the URL with its token, or the bytes
// that the destination sent.
func errorReason(err error) string {
	var (
		address *AddressError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		alert   tls.AlertError
		record  tls.RecordHeaderError
		timeout net.Error
		refused *refusal
	)
	switch {
	case errors.As(err, &refused):
		return refused.reason
	case errors.As(err, &address):
		return address.Error()
	case errors.As(err, &dns) && dns.IsNotFound:
		return bounded("host not found: " + dns.Name)
	case errors.As(err, &dns):
		return bounded("host name lookup failed: " + dns.Name)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no complete answer within the timeout"
	case errors.Is(err, context.Canceled):
		return "attempt was cut short by a shutdown"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "host unreachable"
	case errors.As(err, &cert):
		return "certificate not accepted"
	case errors.As(err, &alert), errors.As(err, &record):
		return "TLS handshake failed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, nats.ErrConnectionClosed):
		return "connection closed without an answer"
	case errors.Is(err, errBadRequest):
		return "request cannot be made from the destination's URL"
	default:
		return "no valid answer"
	}
}

// maxReason is the longest reason in bytes, as receiver.Settlement says.
const maxReason = 256

func bounded(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return text[:maxReason]
}
