// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
)

// pace is how often the provider sends: 20 deliveries a second.
const pace = 50 * time.Millisecond

// provider sends without an end, signing with each of its secrets in turn. Every delivery is a new event, on a connection
// of its own, so that each receiver gets its share; and none is sent twice: what is refused once is refused.
type provider struct {
	url    string
	scheme scheme.Scheme
	event  func(name string) string
	client *http.Client

	mu            sync.Mutex
	keys          [][]byte
	sent, refused int
	// problems are the first refusals.
	problems []string
}

func newProvider(url string, event func(string) string) (*provider, error) {
	preset, known := scheme.Preset(string(v1alpha1.SchemePaymos))
	if !known {
		return nil, fmt.Errorf("there is no scheme %s", v1alpha1.SchemePaymos)
	}
	return &provider{
		url: url, scheme: preset, event: event,
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second},
	}, nil
}

// sign has the provider sign with these secrets from now on.
func (p *provider) sign(secrets ...string) error {
	var keys [][]byte
	for _, secret := range secrets {
		key, err := p.scheme.SigningKey().Decode([]byte(secret))
		if err != nil {
			return fmt.Errorf("read a signing secret: %w", err)
		}
		keys = append(keys, key)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = keys
	return nil
}

// run sends until ctx is done, and returns when the last delivery has its answer.
func (p *provider) run(ctx context.Context) {
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
		p.mu.Lock()
		which := n % len(p.keys)
		key := p.keys[which]
		p.mu.Unlock()
		underway.Go(func() {
			// A delivery that is under way at the end is waited for.
			status, err := p.deliver(context.WithoutCancel(ctx), p.event(fmt.Sprintf("gitops-%d", n)), key)
			p.count(which, status, err)
		})
	}
}

// deliver sends one event and returns the status of the answer.
func (p *provider) deliver(ctx context.Context, event string, key []byte) (int, error) {
	body, err := verify.Body(p.scheme, event, "invoice.paid", event)
	if err != nil {
		return 0, fmt.Errorf("write a delivery: %w", err)
	}
	draft := verify.Draft{EventID: event, EventType: "invoice.paid", ResourceID: event, URL: p.url, Body: body}
	header, err := verify.Sign(p.scheme, [][]byte{key}, draft, time.Now())
	if err != nil {
		return 0, fmt.Errorf("sign a delivery: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("send a delivery: %w", err)
	}
	request.Header = header
	answer, err := p.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("send a delivery: %w", err)
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

func (p *provider) count(which, status int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent++
	if status == http.StatusOK && err == nil {
		return
	}
	p.refused++
	if len(p.problems) < 10 {
		p.problems = append(p.problems, fmt.Sprintf("%s with secret %d: status %d, %v", time.Now().UTC().Format(time.TimeOnly), which, status, err))
	}
}

// counts returns how many deliveries were sent and how many refused, and the first refusals.
func (p *provider) counts() (sent, refused int, problems []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent, p.refused, p.problems
}
