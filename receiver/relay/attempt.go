// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// Headers of an attempt, beside Content-Type, which is the provider's.
const (
	// IdempotencyKeyHeader is the same on every attempt of a delivery, on every replica and after a replay.
	IdempotencyKeyHeader = "Idempotency-Key"
	// EventIDHeader carries the provider's event id.
	EventIDHeader = "Hookonce-Event-Id"
	// EventTypeHeader carries the provider's event type; absent if there is none or it is not printable ASCII.
	EventTypeHeader = "Hookonce-Event-Type"
	// AttemptHeader carries the number of the attempt, from 1, as far as attempts were booked: one whose process ended before
	// it was is not counted, so that a delivery may have arrived before with any number. Only the key tells.
	AttemptHeader = "Hookonce-Attempt"
)

const (
	// maxAnswer is how much of an answer's body is read, in bytes; it is thrown away, and read only so that the connection
	// can be used again.
	maxAnswer        = 64 << 10
	maxAnswerHeaders = 64 << 10
	idleConnections  = 90 * time.Second
)

var errBadRequest = errors.New("request cannot be made")

// newDialer returns a dialer that reaches the public internet and the given networks.
func newDialer(networks []netip.Prefix) *net.Dialer {
	return &net.Dialer{Timeout: DefaultTimeout, KeepAlive: 30 * time.Second, ControlContext: guard(networks)}
}

// newTransport returns a transport for one destination. It takes no proxy from the environment: a delivery's body and the
// destination's credentials go to the destination and nowhere else, and a proxy would dial where the guard does not look.
func newTransport(dialer *net.Dialer) *http.Transport {
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    DefaultTimeout,
		MaxIdleConnsPerHost:    MaxConcurrency,
		IdleConnTimeout:        idleConnections,
		MaxResponseHeaderBytes: maxAnswerHeaders,
		DisableCompression:     true,
	}
}

func newClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport,
		// A redirect would be followed with a GET and without the body, or take the body to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// post makes one attempt and returns what the destination answered. Where a kept connection turns out to be closed before an
// answer began, the client posts once more on a new one, with the same Idempotency-Key.
func (r *Relay) post(ctx context.Context, client *http.Client, to Destination, d receiver.Delivery) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, to.timeout())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(d.Body))
	if err != nil {
		return Answer{}, fmt.Errorf("%w: destination %s", errBadRequest, to.Name)
	}
	request.Header.Set(IdempotencyKeyHeader, d.IdempotencyKey)
	request.Header.Set(EventIDHeader, d.EventID)
	request.Header.Set(AttemptHeader, strconv.Itoa(d.Attempt))
	request.Header.Set("User-Agent", r.opts.UserAgent)
	if d.ContentType != "" {
		request.Header.Set("Content-Type", d.ContentType)
	}
	if printable(d.EventType) {
		request.Header.Set(EventTypeHeader, d.EventType)
	}
	sign(request.Header, to.SigningKeys, d, r.opts.Now())
	answer, err := client.Do(request)
	if err != nil {
		return Answer{}, fmt.Errorf("post to destination %s: %w", to.Name, err)
	}
	defer answer.Body.Close()
	// The status has been given: what happens to the rest of the answer changes nothing.
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	return Answer{Status: answer.StatusCode, RetryAfter: retryAfter(answer.Header, r.opts.Now())}, nil
}

// printable says whether the text can be a header's value: not empty, and of the bytes from space to ~ only.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text != ""
}
