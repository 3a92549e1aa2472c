// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxAnswer is how much of an answer is read, in bytes; maxRetryAfter how long one may ask to wait; gathering how long
// copies wait for each other.
const (
	maxAnswer     = 4 << 20
	maxRetryAfter = 5 * time.Second
	gathering     = 10 * time.Second
)

// sending is an event and what came back for it.
type sending struct {
	Event

	mu      sync.Mutex
	answers []Answers
	// refused says of each delivery that was given up why.
	refused  []string
	recorded int
}

func (s *sending) add(answer Answers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.answers, func(a Answers) bool { return a.Status == answer.Status && a.Digest == answer.Digest })
	if at < 0 {
		s.answers = append(s.answers, answer)
		at = len(s.answers) - 1
	}
	s.answers[at].Count++
}

func (s *sending) giveUp(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.refused, why) {
		s.refused = append(s.refused, why)
	}
}

func (s *sending) acceptedAnswers() []Answers {
	var out []Answers
	for _, answer := range s.answers {
		if accepts(answer.Status) {
			out = append(out, answer)
		}
	}
	return out
}

func (s *sending) accepted() bool { return len(s.acceptedAnswers()) > 0 }

func (s *sending) report() Sent {
	return Sent{EventID: s.ID, ResourceID: s.ResourceID, Answers: s.answers, Recorded: s.recorded}
}

func accepts(status int) bool { return status/100 == 2 }

// send makes up an event and delivers it.
func (r *run) send(ctx context.Context, s *step) (*sending, error) {
	event, err := r.newSending(s)
	if err != nil {
		return nil, err
	}
	return event, r.deliver(ctx, event, nil)
}

func (r *run) newSending(s *step) (*sending, error) {
	event, err := r.NewEvent()
	if err != nil {
		return nil, fmt.Errorf("make up an event: %w", err)
	}
	made := &sending{Event: event}
	s.events = append(s.events, made)
	return made, nil
}

// deliver sends an event until it is answered with 2xx, or the attempts are used up. The body of the first attempt waits at
// the gate, if there is one.
func (r *run) deliver(ctx context.Context, event *sending, gate *gate) error {
	var answer Answers
	for attempt := range max(r.Attempts, 1) {
		request, err := event.Sign(ctx, r.Now())
		if err != nil {
			return fmt.Errorf("sign: %w", err)
		}
		if gate != nil && attempt == 0 {
			request.Body = &gatedBody{ReadCloser: request.Body, gate: gate}
		}
		var delay time.Duration
		answer, delay = r.exchange(request)
		event.add(answer)
		if accepts(answer.Status) {
			return nil
		}
		if attempt+1 < r.Attempts {
			if err := wait(ctx, delay); err != nil {
				return err
			}
		}
	}
	if answer.Status == 0 {
		event.giveUp("there was no answer: " + answer.Digest)
		return nil
	}
	event.giveUp(fmt.Sprintf("it was answered with %d, %s", answer.Status, meaning(answer.Status)))
	return nil
}

// meaning of a status that is not 2xx, for whoever sends.
func meaning(status int) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "so the signature was refused: is it the endpoint's secret and scheme?"
	case status == http.StatusNotFound:
		return "so this is not the endpoint's URL"
	case status/100 == 3:
		return "which is no acknowledgment: providers do not follow redirects"
	case status/100 == 4:
		return "which tells the provider that the delivery failed, so it goes on sending or gives up"
	default:
		return "again and again, so the provider gives it up"
	}
}

// exchange sends one request, and says how long to wait before the next.
func (r *run) exchange(request *http.Request) (Answers, time.Duration) {
	response, err := r.Client.Do(request)
	if err != nil {
		return Answers{Digest: err.Error()}, r.RetryDelay
	}
	defer response.Body.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, io.LimitReader(response.Body, maxAnswer)); err != nil {
		return Answers{Digest: err.Error()}, r.RetryDelay
	}
	delay := r.RetryDelay
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		delay = min(max(time.Duration(seconds)*time.Second, delay), maxRetryAfter)
	}
	return Answers{Status: response.StatusCode, Digest: hex.EncodeToString(digest.Sum(nil)[:8])}, delay
}

// collide sends copies of one event that arrive at once: all connections are open and all bodies are held back until every
// copy is there, so that the first is still open when the others come.
func (r *run) collide(ctx context.Context, s *step) error {
	for range r.Rounds {
		event, err := r.newSending(s)
		if err != nil {
			return err
		}
		gate := newGate(r.Copies)
		var copies sync.WaitGroup
		failures := make(chan error, r.Copies)
		for range r.Copies {
			copies.Go(func() { failures <- r.deliver(ctx, event, gate) })
		}
		gate.open(ctx)
		copies.Wait()
		close(failures)
		for err := range failures {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// gate holds bodies back until as many have come as are expected.
type gate struct {
	arrived  chan struct{}
	expected int
	opened   chan struct{}
}

func newGate(expected int) *gate {
	return &gate{arrived: make(chan struct{}, expected), expected: expected, opened: make(chan struct{})}
}

// open waits for all, though not for ever: an endpoint may take fewer connections than there are copies.
func (g *gate) open(ctx context.Context) {
	defer close(g.opened)
	limit := time.NewTimer(gathering)
	defer limit.Stop()
	for range g.expected {
		select {
		case <-g.arrived:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// gatedBody is first read when its request has a connection.
type gatedBody struct {
	io.ReadCloser

	gate *gate
	once sync.Once
}

func (b *gatedBody) Read(into []byte) (int, error) {
	b.once.Do(func() {
		b.gate.arrived <- struct{}{}
		<-b.gate.opened
	})
	return b.ReadCloser.Read(into) //nolint:wrapcheck // an io.Reader's errors are its own
}

// seen describes a step that holds.
func seen(events []*sending) string {
	deliveries := 0
	var statuses []string
	for _, event := range events {
		for _, answer := range event.answers {
			deliveries += answer.Count
			if status := strconv.Itoa(answer.Status); !slices.Contains(statuses, status) {
				statuses = append(statuses, status)
			}
		}
	}
	slices.Sort(statuses)
	return fmt.Sprintf("%s of %s, answered with %s, recorded once each",
		plural(deliveries, "delivery", "deliveries"), plural(len(events), "event", "events"), strings.Join(statuses, ", "))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// join leaves out what is there already.
func join(problems []string) string {
	return strings.Join(slices.Compact(slices.Clone(problems)), "; ")
}
