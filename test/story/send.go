// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// Delivery is what the provider sends.
type Delivery struct {
	// Endpoint is the name of the WebhookEndpoint that it goes to.
	Endpoint string
	// EventID, EventType and ResourceID are the ids that it carries; the type is invoice.paid unless said otherwise.
	EventID, EventType, ResourceID string
	// Secrets sign it, each with a signature of its own in one header.
	Secrets []string
	// Repeat is how often it is sent, Concurrent how many are under way at once; 1 unless said otherwise.
	Repeat, Concurrent int
}

// Answer is what one sending of a delivery got.
type Answer struct {
	// Status is the HTTP status; 0 if there was no answer.
	Status int `json:"status"`
	// Digest identifies the bytes of the answer's body.
	Digest string `json:"digest"`
	// RetryAfter is the answer's Retry-After header.
	RetryAfter string `json:"retryAfter"`
	// Error says why there was no answer.
	Error string `json:"error"`
}

// Send signs and sends a delivery with `receiver send` and returns every answer, whatever its status.
func (w *World) Send(ctx context.Context, d Delivery) ([]Answer, error) {
	url, err := w.URL(ctx, d.Endpoint)
	if err != nil {
		return nil, err
	}
	return w.SendTo(ctx, url, d)
}

// SendTo is Send to a URL that is known.
func (w *World) SendTo(ctx context.Context, url string, d Delivery) ([]Answer, error) {
	eventType := d.EventType
	if eventType == "" {
		eventType = "invoice.paid"
	}
	args := []string{
		"send", "--url", url, "--scheme", string(v1alpha1.SchemePaymos), "-o", "json",
		"--event-id", d.EventID, "--event-type", eventType, "--resource-id", d.ResourceID,
		"--repeat", strconv.Itoa(max(d.Repeat, 1)), "--concurrent", strconv.Itoa(max(d.Concurrent, 1)),
	}
	for i, secret := range d.Secrets {
		file := filepath.Join(w.State, fmt.Sprintf("secret-%s-%d", d.EventID, i))
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			return nil, fmt.Errorf("write a signing secret for receiver send: %w", err)
		}
		defer os.Remove(file)
		args = append(args, "--secret-file", file)
	}
	out, sendErr := command{name: filepath.Join(w.Root, "bin", "receiver"), args: args}.run(ctx, w.Root)
	var answers []Answer
	for line := range strings.Lines(out) {
		var answer Answer
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			return nil, fmt.Errorf("receiver send printed %q: %w", line, err)
		}
		answers = append(answers, answer)
	}
	// An answer that is not 2xx makes the command fail; it is the caller who knows whether that is wrong.
	if len(answers) == 0 && sendErr != nil {
		return nil, sendErr
	}
	return answers, nil
}

// SendUntilAccepted sends as a provider does that retries until it gets a 2xx.
func (w *World) SendUntilAccepted(ctx context.Context, limit time.Duration, d Delivery) (Answer, error) {
	var accepted Answer
	err := Eventually(ctx, limit, 500*time.Millisecond, func(ctx context.Context) error {
		answers, err := w.Send(ctx, d)
		if err != nil {
			return err
		}
		if answers[0].Status/100 != 2 {
			return fmt.Errorf("%s got %d %s", d.EventID, answers[0].Status, answers[0].Error)
		}
		accepted = answers[0]
		return nil
	})
	return accepted, err
}

// allAccepted says whether every answer is a 200 with the same bytes, and how many there are.
func allAccepted(answers []Answer, want int) error {
	if len(answers) != want {
		return fmt.Errorf("%d answers instead of %d", len(answers), want)
	}
	for _, answer := range answers {
		if answer.Status != 200 {
			return fmt.Errorf("an answer was %d %s instead of 200", answer.Status, answer.Error)
		}
		if answer.Digest != answers[0].Digest {
			return fmt.Errorf("answers differ: bodies %s and %s", answers[0].Digest, answer.Digest)
		}
	}
	return nil
}
