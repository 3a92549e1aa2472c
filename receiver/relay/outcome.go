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
	"strconv"
	"syscall"
	"time"

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

// Classify decides what an attempt means. A 2xx is a success, whatever became of the answer's body; every other status,
// redirects included, and every error is a failure. The attempt with number n, from 1, is followed by one more after
// delays[n-1]; without such a delay the delivery is exhausted. The jitter, from -1 to 1, moves the delay by up to a tenth.
func Classify(delays []time.Duration, attempt, status int, err error, jitter float64) Verdict {
	if err == nil && status >= 200 && status <= 299 {
		return Verdict{Outcome: receiver.Delivered}
	}
	verdict := Verdict{Outcome: receiver.Exhausted, Reason: reason(status, err)}
	if rung := max(attempt, 1) - 1; rung < len(delays) {
		verdict.Outcome = receiver.Retry
		verdict.Delay = spread(delays[rung], jitter)
	}
	return verdict
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
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		alert   tls.AlertError
		record  tls.RecordHeaderError
		timeout net.Error
	)
	switch {
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
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed without an answer"
	case errors.Is(err, errBadRequest):
		return "request cannot be made from the destination's URL"
	default:
		return "no valid HTTP answer"
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
