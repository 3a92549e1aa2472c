// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/internal/manifest"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/receiver/prove"
	"github.com/hookonce/hookonce/receiver/verify"
)

// eventMaker makes up the events of one proof.
type eventMaker struct {
	sender    *sender
	eventType string
	body      func(id, eventType, resource string) ([]byte, error)
	endpoint  *manifest.Endpoint
	// prefix of all ids of this proof, and how many there are.
	prefix string
	made   int
}

func (f *proveFlags) maker() (*eventMaker, error) {
	m := &eventMaker{
		sender:    &sender{url: f.url, header: http.Header{}},
		eventType: f.eventType, prefix: strings.ReplaceAll(uuid.NewString(), "-", "")[:12],
	}
	if f.endpoint != "" {
		endpoint, err := readEndpoint(f.endpoint)
		if err != nil {
			return nil, err
		}
		m.endpoint, m.sender.scheme = endpoint, endpoint.Scheme
	} else {
		preset, err := f.schemeToUse()
		if err != nil {
			return nil, err
		}
		m.sender.scheme = preset
	}
	publicURL := cmp.Or(f.publicURL, f.url)
	if f.publicURL == "" && m.endpoint != nil {
		publicURL = cmp.Or(m.endpoint.PublicURL, f.url)
	}
	m.sender.draft.URL = publicURL
	for _, header := range f.headers {
		name, value, found := strings.Cut(header, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("--header %q is not name=value", header)
		}
		m.sender.header.Add(name, value)
	}
	for _, file := range f.secretFiles {
		key, err := readKey(m.sender.scheme, file)
		if err != nil {
			return nil, err
		}
		m.sender.keys = append(m.sender.keys, key)
	}
	m.body = func(id, eventType, resource string) ([]byte, error) {
		return verify.Body(m.sender.scheme, id, eventType, resource)
	}
	if f.bodyTemplate != "" {
		template, err := os.ReadFile(f.bodyTemplate)
		if err != nil {
			return nil, fmt.Errorf("read the body's template: %w", err)
		}
		m.body = func(id, eventType, resource string) ([]byte, error) {
			return []byte(strings.NewReplacer("{event_id}", id, "{event_type}", eventType, "{resource_id}", resource).Replace(string(template))), nil
		}
	}
	return m, nil
}

// next makes up an event. By what ids it is known, only the verification of what would be sent says.
func (m *eventMaker) next() (prove.Event, error) {
	m.made++
	number := m.prefix + "_" + strconv.Itoa(m.made)
	s := *m.sender
	s.draft.EventID, s.draft.EventType, s.draft.ResourceID = "evt_"+number, m.eventType, "res_"+number
	var err error
	if s.draft.Body, err = m.body(s.draft.EventID, m.eventType, s.draft.ResourceID); err != nil {
		return prove.Event{}, err
	}
	s.draft.ContentType = s.header.Get("Content-Type")
	known, err := m.identify(&s)
	if err != nil {
		return prove.Event{}, err
	}
	return prove.Event{
		ID: known.ID, ResourceID: known.ResourceID,
		Sign: func(ctx context.Context, now time.Time) (*http.Request, error) {
			request, err := s.request(ctx, now)
			if err == nil {
				request.Header.Set("User-Agent", "hookonce-prove/"+version)
			}
			return request, err
		},
	}, nil
}

// identify verifies an event before it is sent.
func (m *eventMaker) identify(s *sender) (receiver.VerifiedEvent, error) {
	for _, source := range s.scheme.EventID {
		if source.PerRequest {
			return receiver.VerifiedEvent{}, fmt.Errorf("events of the scheme %s have no id, so that none can be sent again", s.scheme.Name)
		}
	}
	now := time.Now()
	signed, err := verify.SignRequest(s.scheme, s.keys, s.draft, now)
	if err != nil {
		return receiver.VerifiedEvent{}, fmt.Errorf("sign: %w", err)
	}
	var secrets []receiver.Secret
	for i, key := range s.keys {
		if s.scheme.Signature.Algorithm == scheme.Ed25519 {
			key = publicKey(key)
		}
		secrets = append(secrets, receiver.Secret{Key: key, Fingerprint: strconv.Itoa(i)})
	}
	verified, err := verify.Verify(s.scheme, secrets, signed, now, time.Minute)
	if err != nil {
		return receiver.VerifiedEvent{}, fmt.Errorf("the event would not be accepted; does the body have what the scheme %s reads? %w",
			s.scheme.Name, err)
	}
	if len(verified.Events) != 1 {
		return receiver.VerifiedEvent{}, errors.New("the body should be one event")
	}
	return verified.Events[0], nil
}

// publicKey is the second half of a private Ed25519 key.
func publicKey(private []byte) []byte { return private[len(private)/2:] }

// ledger opens what the flags name; done closes it.
func (f *proveFlags) ledger(
	ctx context.Context, std streams, m *eventMaker, log func() *slog.Logger,
) (l prove.Ledger, done func(), err error) {
	done = func() {}
	switch {
	case f.ledgerCommand != "":
		l.Live = true
		l.Count = func(ctx context.Context, events []prove.Event) (map[string]int, error) {
			out, err := shell(ctx, f.ledgerCommand, std.err)
			if err != nil {
				return nil, err
			}
			return tally(bytes.NewReader(out), events)
		}
	case f.ledgerIDs == "-":
		l.Count = func(_ context.Context, events []prove.Event) (map[string]int, error) {
			fmt.Fprintf(std.err, "events evt_%s_1 to evt_%s_%d were sent; give the ids that your system recorded, and an end of file\n",
				m.prefix, m.prefix, m.made)
			return tally(std.in, events)
		}
	case f.ledgerIDs != "":
		l.Count = func(_ context.Context, events []prove.Event) (map[string]int, error) {
			list, err := os.Open(f.ledgerIDs)
			if err != nil {
				return nil, fmt.Errorf("read the list of ids: %w", err)
			}
			defer list.Close()
			return tally(list, events)
		}
	default:
		if !strings.Contains(m.endpoint.Name, "/") {
			return l, done, errors.New("metadata.namespace: it is needed to find the endpoint in the ledger")
		}
		ours, err := ledger.Open(ctx, ledger.Options{
			URL: ledger.StaticURL(f.databaseURL), Schema: m.endpoint.Schema, Endpoint: m.endpoint.Name, MaxConns: 1, Logger: log(),
		})
		if err != nil {
			return l, done, fmt.Errorf("open the ledger: %w", err)
		}
		done, l.Live = ours.Close, true
		l.Count = func(ctx context.Context, events []prove.Event) (map[string]int, error) {
			ids := make([]string, len(events))
			for i, event := range events {
				ids[i] = event.ID
			}
			return ours.Recorded(ctx, ids)
		}
	}
	return l, done, nil
}

func tally(in io.Reader, events []prove.Event) (map[string]int, error) {
	list, err := prove.ReadTally(in)
	if err != nil {
		return nil, err
	}
	return list.Count(events), nil
}

// shell runs a command of the user's.
func shell(ctx context.Context, line string, complaints io.Writer) ([]byte, error) {
	command := exec.CommandContext(ctx, "sh", "-c", line) //nolint:gosec // It is what the user asked for, with the user's rights.
	command.Stderr = complaints
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", line, err)
	}
	return out, nil
}
