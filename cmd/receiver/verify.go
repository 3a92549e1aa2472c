// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/verify"
)

const verifyExample = `  # a request as it was captured, with its headers; --now is when
  receiver verify --endpoint endpoint.yaml --secret-file ./secret --now 1700000000 < request.http`

func newVerify(std streams) *cobra.Command {
	f := &captureFlags{}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Judge a captured delivery as a receiver would",
		Long: "Read a raw HTTP/1.1 request from standard input, judge it as the endpoint's receivers would, and print one JSON\n" +
			"object. Exits with 0 if it is accepted, 1 if it is rejected, and 2 if nothing could be judged. Nothing is stored.",
		Example: verifyExample,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := f.read(std.in)
			if err != nil {
				return err
			}
			return c.printVerdict(std)
		},
	}
	f.add(cmd)
	return cmd
}

// verdict is what verify prints. Its first six members are always there.
type verdict struct {
	Accepted   bool   `json:"accepted"`
	Reason     string `json:"reason"`
	EventID    string `json:"eventID"`
	EventType  string `json:"eventType"`
	ResourceID string `json:"resourceID"`
	// MatchedSecret is the place of the secret on the command line, from 0; null if none matched.
	MatchedSecret *int `json:"matchedSecret"`
	// Handshake says that the request asks whether the endpoint wants deliveries, and carries no event.
	Handshake bool `json:"handshake,omitempty"`
	// Events of a request that carries several, or none.
	Events []verdictEvent `json:"events,omitempty"`
	// Problems are why secrets cannot be used, and what is odd about the request.
	Problems []string `json:"problems,omitempty"`
}

type verdictEvent struct {
	EventID    string `json:"eventID"`
	EventType  string `json:"eventType"`
	ResourceID string `json:"resourceID"`
}

func (c *capture) printVerdict(std streams) error {
	v, err := c.judge()
	if err != nil {
		return err
	}
	if err := printJSON(std.out, v); err != nil {
		return err
	}
	if !v.Accepted {
		return fmt.Errorf("rejected: %s", v.Reason)
	}
	return nil
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

func (c *capture) judge() (verdict, error) {
	v := verdict{Problems: c.warnings}
	if c.request.Method != http.MethodPost {
		return c.challenge(v)
	}
	if c.refused != nil {
		v.Reason, v.Problems = c.refused.cause, append(v.Problems, c.refused.explanation)
		return v, nil
	}
	var secrets []receiver.Secret
	for i, secret := range c.secrets {
		key, err := c.endpoint.Scheme.DecodeSecret(secret.Text)
		if err != nil {
			v.Problems = append(v.Problems, fmt.Sprintf("secret %d cannot be used: %v", i, err))
			continue
		}
		usable := receiver.Secret{Key: key, Fingerprint: strconv.Itoa(i)}
		if secret.Expired {
			usable.NotAfter = time.Unix(0, 1)
		}
		secrets = append(secrets, usable)
	}
	verified, err := verify.Verify(c.endpoint.Scheme, secrets, c.request, c.now, c.endpoint.Tolerance)
	if err != nil {
		return v.rejected(err)
	}
	v.Accepted = true
	if matched, err := strconv.Atoi(verified.Fingerprint); err == nil {
		v.MatchedSecret = &matched
	}
	v.Handshake = verified.Handshake != nil
	for i, event := range verified.Events {
		if i == 0 {
			v.EventID, v.EventType, v.ResourceID = event.ID, event.Type, event.ResourceID
		}
		if c.endpoint.Scheme.Batch != nil {
			v.Events = append(v.Events, verdictEvent{event.ID, event.Type, event.ResourceID})
		}
	}
	return v, nil
}

// challenge judges a request that is no POST: a handshake that is not signed, or nothing.
func (c *capture) challenge(v verdict) (verdict, error) {
	reply, err := verify.Challenge(c.endpoint.Scheme, c.request)
	switch {
	case err != nil:
		return v.rejected(err)
	case reply == nil:
		v.Reason = "method_not_allowed"
		return v, nil
	}
	v.Accepted, v.Handshake = true, true
	return v, nil
}

func (v verdict) rejected(err error) (verdict, error) {
	rejection, ok := errors.AsType[*receiver.Rejection](err)
	if !ok {
		return v, fmt.Errorf("verify: %w", err)
	}
	v.Reason = rejection.Cause
	return v, nil
}
