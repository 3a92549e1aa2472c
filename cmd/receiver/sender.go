// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
)

// maxAnswer is how much of an answer's body is read, in bytes.
const maxAnswer = 4 << 20

// digestBytes of an answer's SHA-256 are printed.
const digestBytes = 8

// sender sends one delivery, as often as it was asked to.
type sender struct {
	url                        string
	scheme                     scheme.Scheme
	keys                       [][]byte
	draft                      verify.Draft
	header                     http.Header
	repeat, concurrent, expect int
	json                       bool
	client                     *http.Client
}

// sent is what became of one sending.
type sent struct {
	// Status is 0 if there was no answer; Error then says why.
	Status int `json:"status"`
	// Digest is the beginning of the SHA-256 of the answer's body.
	Digest     string  `json:"digest,omitempty"`
	DurationMS float64 `json:"durationMs"`
	RetryAfter string  `json:"retryAfter,omitempty"`
	Error      string  `json:"error,omitempty"`
}

// run sends, prints a line for each answer as it comes, and fails if any was not expected.
func (s *sender) run(ctx context.Context, out io.Writer) error {
	var (
		workers    sync.WaitGroup
		mu         sync.Mutex
		unexpected int
		first      error
	)
	turns := make(chan struct{}, s.repeat)
	for range s.repeat {
		turns <- struct{}{}
	}
	close(turns)
	for range min(s.concurrent, s.repeat) {
		workers.Go(func() {
			for range turns {
				result := s.send(ctx)
				mu.Lock()
				if err := s.print(out, result); err != nil && first == nil {
					first = err
				}
				if !s.expected(result.Status) {
					unexpected++
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	switch {
	case first != nil:
		return first
	case unexpected > 0 && s.expect != 0:
		return fmt.Errorf("%d of %d answers are not %d", unexpected, s.repeat, s.expect)
	case unexpected > 0:
		return fmt.Errorf("%d of %d answers are not 2xx", unexpected, s.repeat)
	}
	return nil
}

func (s *sender) expected(status int) bool {
	if s.expect != 0 {
		return status == s.expect
	}
	return status/100 == 2
}

func (s *sender) send(ctx context.Context) sent {
	started := time.Now()
	result, err := s.exchange(ctx, started)
	result.DurationMS = float64(time.Since(started).Microseconds()) / 1000
	if err != nil {
		result.Error = err.Error()
	}
	return result
}

// exchange signs anew each time, as a provider does for each attempt.
func (s *sender) exchange(ctx context.Context, now time.Time) (sent, error) {
	request, err := s.request(ctx, now)
	if err != nil {
		return sent{}, err
	}
	request.Header.Set("User-Agent", "hookonce-send/"+version)
	answer, err := s.client.Do(request)
	if err != nil {
		return sent{}, fmt.Errorf("send: %w", err)
	}
	defer answer.Body.Close()
	result := sent{Status: answer.StatusCode, RetryAfter: answer.Header.Get("Retry-After")}
	digest := sha256.New()
	if _, err := io.Copy(digest, io.LimitReader(answer.Body, maxAnswer)); err != nil {
		return result, fmt.Errorf("read the answer: %w", err)
	}
	result.Digest = hex.EncodeToString(digest.Sum(nil)[:digestBytes])
	return result, nil
}

// request signs what is to be sent.
func (s *sender) request(ctx context.Context, now time.Time) (*http.Request, error) {
	signed, err := verify.SignRequest(s.scheme, s.keys, s.draft, now)
	if err != nil {
		return nil, err
	}
	maps.Copy(signed.Header, s.header)
	// The signature may have put a parameter into the URL.
	target := s.url
	if _, query, found := strings.Cut(signed.URL, "?"); found {
		target, _, _ = strings.Cut(s.url, "?")
		target += "?" + query
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(signed.Body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	request.Header = signed.Header
	return request, nil
}

func (s *sender) print(out io.Writer, result sent) error {
	if s.json {
		if err := json.NewEncoder(out).Encode(result); err != nil {
			return fmt.Errorf("print an answer: %w", err)
		}
		return nil
	}
	text := result.Digest
	if result.Error != "" {
		text = result.Error
	}
	if _, err := fmt.Fprintf(out, "%d %s %.1fms\n", result.Status, text, result.DurationMS); err != nil {
		return fmt.Errorf("print an answer: %w", err)
	}
	return nil
}
