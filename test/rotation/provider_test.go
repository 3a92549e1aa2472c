// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
)

const (
	// lanes of a provider's own servers, which go over to a new secret one after the other.
	lanes = 5
	// remembered events may be sent again.
	remembered = 50
	// crowd bounds the requests of one provider that are under way.
	crowd = 64
)

// provider sends to the receivers of one endpoint and never stops. No request of it may be refused.
type provider struct {
	shop   *shop
	client *http.Client
	random *rand.Rand

	mu              sync.Mutex
	current, former string
	behavior        scheme.Rotation
	// From since to until both secrets may be in use.
	since, until time.Time
	events       []string
	count        int

	// sent and refused count requests, stale those that carried only the former secret within its time.
	sent, refused, stale atomic.Int64
	// oldUnderWay counts the requests under way that carry only the former secret.
	oldUnderWay atomic.Int64
	complaints  chan string
}

func newProvider(s *shop, secret string, seed uint64) *provider {
	transport := &http.Transport{MaxIdleConnsPerHost: crowd}
	s.Cleanup(transport.CloseIdleConnections)
	return &provider{
		shop: s, current: secret, behavior: scheme.RotationImmediate, random: dice(seed, 7),
		client: &http.Client{Transport: transport, Timeout: 10 * time.Second}, complaints: make(chan string, 20),
	}
}

// run sends at an even pace until ctx is done, and makes up for what it was late with.
func (p *provider) run(ctx context.Context, every time.Duration) {
	var underWay sync.WaitGroup
	defer underWay.Wait()
	slots := make(chan struct{}, crowd)
	for at := time.Now(); pause(ctx, time.Until(at)); at = at.Add(every) {
		slots <- struct{}{}
		r := p.next(time.Now())
		underWay.Go(func() {
			defer func() { <-slots }()
			p.send(r)
		})
	}
}

// request is what the provider has decided to send.
type request struct {
	event   string
	secrets []string
	target  *replica
	// old says that it carries only the former secret, which is due until mustBy.
	old    bool
	mustBy time.Time
}

// next decides by the provider's behavior what to sign the next request with.
func (p *provider) next(now time.Time) request {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	r := request{event: fmt.Sprintf("%s-%d", p.shop.name, p.count), target: p.shop.receivers[p.count%replicas], secrets: []string{p.current}}
	if now.Before(p.until) && p.former != "" {
		switch p.behavior {
		case scheme.RotationBoth:
			r.secrets = []string{p.current, p.former}
		case scheme.RotationLagging:
			share := float64(p.random.IntN(lanes)+1) / lanes
			r.old = now.Before(p.since.Add(time.Duration(share * float64(p.until.Sub(p.since)))))
		case scheme.RotationOldEventsKeepOld:
			if r.old = p.random.IntN(3) == 0 && len(p.events) > 0; r.old {
				r.event = p.events[p.random.IntN(len(p.events))]
			}
		case scheme.RotationImmediate:
		}
	} else {
		p.events = append(p.events, r.event)
		p.events = p.events[max(0, len(p.events)-remembered):]
	}
	if r.old {
		r.secrets, r.mustBy = []string{p.former}, p.until
		p.oldUnderWay.Add(1)
	}
	return r
}

// goOver lets the provider go over to a new secret, and use the former one until then as it behaves.
func (p *provider) goOver(secret string, behavior scheme.Rotation, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != secret {
		p.former, p.current = p.current, secret
	}
	p.behavior, p.since, p.until = behavior, time.Now(), until
}

// abandon lets the provider stop to sign with a former secret.
func (p *provider) abandon(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.former == secret {
		p.until = time.Time{}
	}
}

// signBoth lets the provider sign with a secret to come besides its own, as one does that knows both.
func (p *provider) signBoth(secret string) {
	p.goOver(secret, scheme.RotationBoth, time.Now().Add(time.Hour))
}

func (p *provider) send(r request) {
	status, text := p.deliver(r.target, r.event, r.secrets...)
	late := r.old && time.Now().After(r.mustBy)
	if r.old {
		p.oldUnderWay.Add(-1)
		p.stale.Add(1)
	}
	p.sent.Add(1)
	if status == http.StatusOK || late {
		return
	}
	p.refused.Add(1)
	select {
	case p.complaints <- fmt.Sprintf("event %s (only the former secret: %v) got %d %s", r.event, r.old, status, text):
	default:
	}
}

// deliver signs and sends an event to one receiver, and returns the answer's status, 0 if there was none, and its text.
func (p *provider) deliver(to *replica, event string, secrets ...string) (int, string) {
	keys := make([][]byte, 0, len(secrets))
	for _, secret := range secrets {
		keys = append(keys, []byte(secret))
	}
	body := fmt.Appendf(nil, `{"event_id":%q,"event_type":"invoice.paid","data":{"invoice_id":%q}}`, event, event)
	header, err := verify.Sign(p.shop.config.Scheme, keys, verify.Draft{EventID: event, EventType: "invoice.paid", Body: body}, time.Now())
	if err != nil {
		return 0, err.Error()
	}
	post, err := http.NewRequest(http.MethodPost, "http://"+to.public+p.shop.config.Path, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	post.Header = header
	answer, err := p.client.Do(post)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}
