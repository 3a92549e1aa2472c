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
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver"
)

// longLadder is as long as the default of the kinds.
var longLadder = []time.Duration{
	1 * time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute,
	1 * time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
}

func TestClassify(t *testing.T) {
	ladder := []time.Duration{time.Minute, time.Hour}
	redirect := func(status string) string {
		return "answered " + status + ", a redirect, and redirects are not followed"
	}
	final := func(status string) string { return "answered " + status + ", and client errors are final here" }
	tests := []struct {
		name       string
		attempt    int
		status     int
		retryAfter time.Duration
		end        bool
		err        error
		jitter     float64
		want       Verdict
	}{
		{name: "200", attempt: 1, status: 200, want: Verdict{Outcome: receiver.Delivered}},
		{name: "299", attempt: 3, status: 299, want: Verdict{Outcome: receiver.Delivered}},
		{name: "first failure", attempt: 1, status: 500, want: Verdict{receiver.Retry, time.Minute, "answered 500"}},
		{name: "client error is retried too", attempt: 1, status: 400, want: Verdict{receiver.Retry, time.Minute, "answered 400"}},
		{name: "gone is retried too", attempt: 2, status: 410, want: Verdict{receiver.Retry, time.Hour, "answered 410"}},
		{name: "last rung passed", attempt: 3, status: 503, want: Verdict{receiver.Exhausted, 0, "answered 503"}},
		{name: "beyond the ladder", attempt: 9, status: 503, want: Verdict{receiver.Exhausted, 0, "answered 503"}},
		{name: "301", attempt: 1, status: 301, want: Verdict{receiver.Retry, time.Minute, redirect("301")}},
		{name: "304", attempt: 3, status: 304, want: Verdict{receiver.Exhausted, 0, redirect("304")}},
		{name: "attempt zero counts as one", attempt: 0, status: 500, want: Verdict{receiver.Retry, time.Minute, "answered 500"}},
		{name: "longest", attempt: 2, status: 500, jitter: 1, want: Verdict{receiver.Retry, 66 * time.Minute, "answered 500"}},
		{name: "shortest", attempt: 2, status: 500, jitter: -1, want: Verdict{receiver.Retry, 54 * time.Minute, "answered 500"}},
		{name: "asks for more time", attempt: 1, status: 429, retryAfter: time.Hour, want: Verdict{receiver.Retry, time.Hour, "answered 429"}},
		{name: "asks for less time", attempt: 2, status: 503, retryAfter: time.Second, want: Verdict{receiver.Retry, time.Hour, "answered 503"}},
		{name: "asks for a year", attempt: 1, status: 503, retryAfter: 8760 * time.Hour, want: Verdict{receiver.Retry, MaxRetryAfter, "answered 503"}},
		{name: "asks for time after the last", attempt: 3, status: 503, retryAfter: time.Hour, want: Verdict{receiver.Exhausted, 0, "answered 503"}},
		{name: "client error ends it", attempt: 1, status: 400, end: true, want: Verdict{receiver.Exhausted, 0, final("400")}},
		{name: "gone ends it", attempt: 1, status: 410, end: true, want: Verdict{receiver.Exhausted, 0, final("410")}},
		{name: "499 ends it", attempt: 1, status: 499, end: true, want: Verdict{receiver.Exhausted, 0, final("499")}},
		{name: "request timeout does not", attempt: 1, status: 408, end: true, want: Verdict{receiver.Retry, time.Minute, "answered 408"}},
		{name: "too early does not", attempt: 1, status: 425, end: true, want: Verdict{receiver.Retry, time.Minute, "answered 425"}},
		{name: "too many does not", attempt: 1, status: 429, end: true, want: Verdict{receiver.Retry, time.Minute, "answered 429"}},
		{name: "500 does not", attempt: 1, status: 500, end: true, want: Verdict{receiver.Retry, time.Minute, "answered 500"}},
		{name: "399 does not", attempt: 1, status: 399, end: true, want: Verdict{receiver.Retry, time.Minute, redirect("399")}},
		{
			name: "error after a client error's status", attempt: 1, status: 400, end: true, err: fmt.Errorf("read: %w", syscall.ECONNRESET),
			want: Verdict{receiver.Retry, time.Minute, "connection reset"},
		},
		{
			name: "error", attempt: 1, err: fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
			want: Verdict{receiver.Retry, time.Minute, "connection refused"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Classify(Destination{Delays: ladder, ClientErrorsEnd: tt.end}, tt.attempt, Answer{tt.status, tt.retryAfter}, tt.err, tt.jitter)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReasonsTellNothingOfTheURLOrTheAnswer(t *testing.T) {
	const secret = "hunter2"
	wrap := func(err error) error {
		return fmt.Errorf("post: %w", &url.Error{Op: "Post", URL: "http://user:" + secret + "@h/?token=" + secret, Err: err})
	}
	tests := map[string]struct {
		err  error
		want string
	}{
		"timeout":      {context.DeadlineExceeded, "no complete answer within the timeout"},
		"dial timeout": {&net.OpError{Op: "dial", Err: timeoutError{}}, "no complete answer within the timeout"},
		"shutdown":     {context.Canceled, "attempt was cut short by a shutdown"},
		"no such host": {&net.DNSError{Name: "sink.shop.svc", IsNotFound: true}, "host not found: sink.shop.svc"},
		"dns away":     {&net.DNSError{Name: "sink.shop.svc"}, "host name lookup failed: sink.shop.svc"},
		"reset":        {syscall.ECONNRESET, "connection reset"},
		"unreachable":  {syscall.EHOSTUNREACH, "host unreachable"},
		"certificate":  {&tls.CertificateVerificationError{Err: errors.New(secret)}, "certificate not accepted"},
		"no TLS":       {tls.RecordHeaderError{Msg: secret}, "TLS handshake failed"},
		"closed":       {io.EOF, "connection closed without an answer"},
		"bad URL":      {errBadRequest, "request cannot be made from the destination's URL"},
		"garbage":      {errors.New("malformed HTTP response \"" + secret + "\""), "no valid answer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Classify(Destination{}, 1, Answer{}, wrap(tt.err), 0).Reason
			if got != tt.want {
				t.Errorf("reason %q, want %q", got, tt.want)
			}
			if strings.Contains(got, secret) {
				t.Errorf("reason %q holds the secret", got)
			}
		})
	}
	long := Classify(Destination{}, 1, Answer{}, wrap(&net.DNSError{Name: strings.Repeat("a", 300), IsNotFound: true}), 0).Reason
	if len(long) > maxReason {
		t.Errorf("reason of %d bytes, want at most %d", len(long), maxReason)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"absent":           {http.Header{}, 0},
		"seconds":          {http.Header{"Retry-After": {"120"}}, 2 * time.Minute},
		"zero":             {http.Header{"Retry-After": {"0"}}, 0},
		"negative":         {http.Header{"Retry-After": {"-1"}}, 0},
		"fraction":         {http.Header{"Retry-After": {"1.5"}}, 0},
		"words":            {http.Header{"Retry-After": {"soon"}}, 0},
		"beyond 32 bits":   {http.Header{"Retry-After": {"99999999999999999999"}}, 0},
		"date":             {http.Header{"Retry-After": {"Tue, 01 Dec 2026 12:01:00 GMT"}}, time.Minute},
		"date in the past": {http.Header{"Retry-After": {"Tue, 01 Dec 2026 11:59:00 GMT"}}, 0},
		"date by a clock that is an hour ahead": {
			http.Header{"Retry-After": {"Tue, 01 Dec 2026 13:01:00 GMT"}, "Date": {"Tue, 01 Dec 2026 13:00:00 GMT"}}, time.Minute,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := retryAfter(tt.header, now); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func TestLeaseFor(t *testing.T) {
	tests := []struct {
		timeouts []time.Duration
		want     time.Duration
	}{
		{nil, 30 * time.Second},
		{[]time.Duration{0}, 30 * time.Second},
		{[]time.Duration{time.Second, 60 * time.Second}, 180 * time.Second},
	}
	for _, tt := range tests {
		var destinations []Destination
		for _, timeout := range tt.timeouts {
			destinations = append(destinations, Destination{Timeout: timeout})
		}
		if got := LeaseFor(destinations); got != tt.want {
			t.Errorf("LeaseFor(%v) = %s, want %s", tt.timeouts, got, tt.want)
		}
	}
}
