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
	"time"

	"github.com/hookonce/hookonce/receiver"
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

// poster carries deliveries over HTTP.
type poster struct {
	client    *http.Client
	userAgent string
	now       func() time.Time
}

// carry posts once. Where a kept connection turns out to be closed before an answer began, the client posts once more on a
// new one, with the same Idempotency-Key.
func (p *poster) carry(ctx context.Context, to Destination, d receiver.Delivery) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, to.timeout())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(d.Body))
	if err != nil {
		return Answer{}, fmt.Errorf("%w: destination %s", errBadRequest, to.Name)
	}
	request.Header = headers(to, d, p.now())
	request.Header.Set("User-Agent", p.userAgent)
	answer, err := p.client.Do(request)
	if err != nil {
		return Answer{}, fmt.Errorf("post to destination %s: %w", to.Name, err)
	}
	defer answer.Body.Close()
	// The status has been given: what happens to the rest of the answer changes nothing.
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	return Answer{Status: answer.StatusCode, RetryAfter: retryAfter(answer.Header, p.now())}, nil
}

func (p *poster) close() { p.client.CloseIdleConnections() }
