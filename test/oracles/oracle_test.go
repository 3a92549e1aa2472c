// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package oracles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	paddle "github.com/PaddleHQ/paddle-go-sdk/v4"
	"github.com/google/go-github/v84/github"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/webhooks"
	"github.com/slack-go/slack"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v85/webhook"
	svix "github.com/svix/svix-webhooks/go"
	twilio "github.com/twilio/twilio-go/client"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/verify"
)

const tolerance = 5 * time.Minute

// oracle is a provider's library and how we differ from it.
type oracle struct {
	library, scheme string
	grammar         grammar
	// verify asks the library, which has one secret.
	verify func(d *delivery, secret string) error
	rules  []rule
}

// verdict is what one side says.
type verdict struct {
	accepted bool
	// reason of a rejection.
	reason string
}

// theirs asks the library with each secret in turn, as its users do during a rotation.
func (o *oracle) theirs(d *delivery) verdict {
	var problems []error
	for _, secret := range d.secrets {
		err := o.verify(d, secret)
		if err == nil {
			return verdict{accepted: true}
		}
		problems = append(problems, err)
	}
	return verdict{reason: errors.Join(problems...).Error()}
}

// ours asks Verify with the secrets that can be used.
func (o *oracle) ours(s scheme.Scheme, d *delivery) verdict {
	var usable []receiver.Secret
	var problem *scheme.SecretProblem
	for _, text := range d.secrets {
		key, err := s.Key.Decode([]byte(text))
		if err == nil {
			usable = append(usable, receiver.Secret{Key: key, Fingerprint: "f"})
		} else if !errors.As(err, &problem) {
			return verdict{reason: fmt.Sprintf("unexpected: %v", err)}
		}
	}
	if len(usable) == 0 {
		return verdict{reason: problem.Reason}
	}
	request := &receiver.Request{Method: http.MethodPost, URL: d.url, Header: d.header, Body: d.body}
	_, err := verify.Verify(s, usable, request, d.now, tolerance)
	if err == nil {
		return verdict{accepted: true}
	}
	rejection, ok := errors.AsType[*receiver.Rejection](err)
	if !ok {
		return verdict{reason: fmt.Sprintf("unexpected: %v", err)}
	}
	if problem != nil && rejection.Cause == receiver.CauseBadSignature {
		return verdict{reason: problem.Reason}
	}
	return verdict{reason: rejection.Cause}
}

func (d *delivery) request() *http.Request {
	return &http.Request{Method: http.MethodPost, Header: d.header.Clone(), Body: io.NopCloser(bytes.NewReader(d.body))}
}

var oracles = []*oracle{
	{
		library: "standard-webhooks", scheme: scheme.StandardWebhooks, grammar: standardGrammar, rules: standardRules,
		verify: func(d *delivery, secret string) error {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				return err
			}
			return verifier.Verify(d.body, d.header)
		},
	},
	{
		library: "svix", scheme: scheme.Svix, grammar: standardGrammar, rules: svixRules,
		verify: func(d *delivery, secret string) error {
			verifier, err := svix.NewWebhook(secret)
			if err != nil {
				return err
			}
			return verifier.Verify(d.body, d.header)
		},
	},
	{
		library: "openai-go", scheme: scheme.OpenAI, grammar: standardGrammar, rules: openaiRules,
		verify: func(d *delivery, secret string) error {
			service := webhooks.WebhookService{Options: []option.RequestOption{option.WithWebhookSecret(secret)}}
			return service.VerifySignatureWithToleranceAndTime(d.body, d.header, tolerance, d.now)
		},
	},
	{
		library: "stripe-go", scheme: scheme.Stripe, grammar: stripeGrammar, rules: stripeRules,
		verify: func(d *delivery, secret string) error {
			return webhook.ValidatePayload(d.body, d.header.Get("Stripe-Signature"), secret)
		},
	},
	{
		library: "go-github", scheme: scheme.GitHub, grammar: githubGrammar, rules: githubRules,
		verify: func(d *delivery, secret string) error {
			_, err := github.ValidatePayload(d.request(), []byte(secret))
			return err
		},
	},
	{
		library: "slack-go", scheme: scheme.Slack, grammar: slackGrammar, rules: slackRules,
		verify: func(d *delivery, secret string) error {
			verifier, err := slack.NewSecretsVerifier(d.header, secret)
			if err != nil {
				return err
			}
			if _, err := verifier.Write(d.body); err != nil {
				return err
			}
			return verifier.Ensure()
		},
	},
	{
		library: "paddle-go-sdk", scheme: scheme.Paddle, grammar: paddleGrammar, rules: paddleRules,
		verify: func(d *delivery, secret string) error {
			ok, err := paddle.NewWebhookVerifier(secret, paddle.VerifierWithTimestampTolerance(tolerance)).Verify(d.request())
			if err == nil && !ok {
				return errors.New("signature mismatch")
			}
			return err
		},
	},
	{
		library: "twilio-go", scheme: scheme.Twilio, grammar: twilioGrammar, rules: twilioRules,
		verify: func(d *delivery, secret string) error {
			validator := twilio.NewRequestValidator(secret)
			if !validator.ValidateBody(d.url, d.body, d.header.Get("X-Twilio-Signature")) {
				return errors.New("not valid")
			}
			return nil
		},
	},
}

func rawKey(secret string) []byte { return []byte(secret) }

func rawSecret(r *rand.Rand) string { return text(r, 32) }
