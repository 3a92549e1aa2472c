// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
)

const (
	// pace is how often a fleet sends: 20 deliveries a second.
	pace = 50 * time.Millisecond
	// margin is how long before the end of a secret it is last used, so that the answer comes in time.
	margin = 2 * time.Second
)

// signature is what a delivery is signed with: one secret, or several at once.
type signature struct {
	secrets []string
	// until is when it is due no more; zero for never.
	until time.Time
}

// fleet is a provider with many servers, which sign with different secrets at once, and send to each receiver in turn.
// Nothing is sent twice: what is refused once is refused.
type fleet struct {
	name   string
	urls   []string
	scheme scheme.Scheme
	client *http.Client

	mu            sync.Mutex
	signatures    []signature
	sent, refused int
	// problems are the first refusals.
	problems []string
}

func newFleet(name string, urls []string, secret string) (*fleet, error) {
	preset, known := scheme.Preset(string(v1alpha1.SchemePaymos))
	if !known {
		return nil, fmt.Errorf("there is no scheme %s", v1alpha1.SchemePaymos)
	}
	return &fleet{
		name: name, urls: urls, scheme: preset, client: &http.Client{Timeout: 10 * time.Second},
		signatures: []signature{{secrets: []string{secret}}},
	}, nil
}

// sign has the servers sign in these ways from now on.
func (f *fleet) sign(signatures ...signature) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signatures = signatures
}

// start sends until the returned function is called, which waits for the last answer.
func (f *fleet) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (f *fleet) run(ctx context.Context) {
	var underway sync.WaitGroup
	defer underway.Wait()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		with := f.next(n)
		underway.Go(func() {
			// A delivery that is under way at the end is waited for.
			status, err := f.deliver(context.WithoutCancel(ctx), f.urls[n%len(f.urls)], fmt.Sprint(n), with.secrets...)
			f.count(n, status, err)
		})
	}
}

// next is the signature of the n-th delivery; each receiver gets every kind.
func (f *fleet) next(n int) signature {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.signatures {
		s := f.signatures[(n/len(f.urls)+i)%len(f.signatures)]
		if s.until.IsZero() || time.Now().Before(s.until.Add(-margin)) {
			return s
		}
	}
	return f.signatures[0]
}

// deliver sends one event to one receiver and returns the status of the answer.
func (f *fleet) deliver(ctx context.Context, url, event string, secrets ...string) (int, error) {
	var keys [][]byte
	for _, secret := range secrets {
		key, err := f.scheme.SigningKey().Decode([]byte(secret))
		if err != nil {
			return 0, fmt.Errorf("read a signing secret: %w", err)
		}
		keys = append(keys, key)
	}
	event = world.Event(f.name + "-" + event)
	body, err := verify.Body(f.scheme, event, "invoice.paid", event)
	if err != nil {
		return 0, fmt.Errorf("write a delivery: %w", err)
	}
	header, err := verify.Sign(f.scheme, keys, verify.Draft{EventID: event, EventType: "invoice.paid", ResourceID: event, URL: url, Body: body}, time.Now())
	if err != nil {
		return 0, fmt.Errorf("sign a delivery: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("send a delivery: %w", err)
	}
	request.Header = header
	answer, err := f.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("send a delivery: %w", err)
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

func (f *fleet) count(n, status int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	if status == http.StatusOK && err == nil {
		return
	}
	f.refused++
	if len(f.problems) < 10 {
		f.problems = append(f.problems, fmt.Sprintf("%s, delivery %d: status %d, %v", time.Now().UTC().Format(time.TimeOnly), n, status, err))
	}
}

// judge fails the test if a delivery was refused, or if there were too few to say anything.
func (f *fleet) judge(t *testing.T, elapsed time.Duration) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Logf("%d deliveries in %s to %d receivers, %d refused", f.sent, elapsed.Round(time.Second), len(f.urls), f.refused)
	for _, problem := range f.problems {
		t.Error(problem)
	}
	if least := int(elapsed / pace / 2); f.sent < least {
		t.Errorf("%d deliveries are too few: want at least %d", f.sent, least)
	}
}

// every fails the test unless each receiver answers a delivery with this secret alone with the status.
func (f *fleet) every(t *testing.T, what, secret string, want int) {
	t.Helper()
	for i, url := range f.urls {
		status, err := f.deliver(t.Context(), url, fmt.Sprintf("%s-%d", what, i), secret)
		if err != nil {
			t.Fatal(err)
		}
		if status != want {
			t.Errorf("%s: receiver %d answers %d, want %d", what, i, status, want)
		}
	}
}
