// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

// problemOf is the reason for which every preset with a raw key of any length refuses a secret; empty if it is accepted.
func problemOf(t *testing.T, name, secret string) (string, []byte) {
	t.Helper()
	s, ok := Preset(name)
	if !ok {
		t.Fatalf("there is no preset %s", name)
	}
	key, err := s.Key.Decode([]byte(secret))
	if problem, ok := errors.AsType[*SecretProblem](err); ok {
		if text := strings.TrimSpace(secret); len(text) > 6 && strings.Contains(problem.Message, text) {
			t.Errorf("the message repeats the secret: %s", problem.Message)
		}
		return problem.Reason, nil
	}
	return "", key
}

// TestB01BlanksAroundASecret: one line break at the end is what echo puts there, and is removed; everything else is refused
// by name, and never signed with.
func TestB01BlanksAroundASecret(t *testing.T) {
	const secret = "s3cr3t-s3cr3t-s3cr3t"
	for _, name := range []string{GitHub, Stripe, Slack, Paymos, Twilio, GitLabToken} {
		for _, text := range []string{secret, secret + "\n", secret + "\r\n"} {
			if reason, key := problemOf(t, name, text); reason != "" || string(key) != secret {
				t.Errorf("%s %q: %s, key %q", name, text, reason, key)
			}
		}
		for _, text := range []string{" " + secret, secret + " ", secret + "\n\n", secret + "\t", "\ufeff" + secret, "\n" + secret, secret + "\r"} {
			if reason, _ := problemOf(t, name, text); reason != SecretWhitespace {
				t.Errorf("%s %q: %s", name, text, reason)
			}
		}
	}
}

func TestB02AndB03EmptySecrets(t *testing.T) {
	for _, name := range Names() {
		for _, text := range []string{"", "\n", "  ", "\t\n"} {
			if reason, _ := problemOf(t, name, text); reason != SecretEmpty {
				t.Errorf("%s %q: %s", name, text, reason)
			}
		}
	}
	for _, text := range []string{"whsec_", "whsec_\n"} {
		if reason, _ := problemOf(t, StandardWebhooks, text); reason != SecretEmpty {
			t.Errorf("%q: %s", text, reason)
		}
	}
}

func TestB06PrefixOfASignature(t *testing.T) {
	for _, name := range []string{StandardWebhooks, Svix, OpenAI, GitLab, StandardWebhooksEd25519, Stripe} {
		if reason, _ := problemOf(t, name, "v1,"+standardSecret); reason != SecretWrongPrefix {
			t.Errorf("%s: %s", name, reason)
		}
	}
}

// TestB07RawOrDecoded: the scheme says which one the key is, and never tries both.
func TestB07RawOrDecoded(t *testing.T) {
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(standardSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		StandardWebhooks: string(decoded), Svix: string(decoded), OpenAI: string(decoded), GitLab: string(decoded),
		Stripe: standardSecret, Paymos: standardSecret,
	} {
		if reason, key := problemOf(t, name, standardSecret); reason != "" || string(key) != want {
			t.Errorf("%s: %s, key %q", name, reason, key)
		}
	}
}

func TestB08PermissiveBase64(t *testing.T) {
	for _, text := range []string{
		"whsec_!!!!", "whsec_xyz!", "whsec_-_8=", standardSecret + "=", strings.TrimSuffix(standardSecret, "w"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa_-",
	} {
		if reason, _ := problemOf(t, StandardWebhooks, text); reason != SecretUndecodable {
			t.Errorf("%s: %s", text, reason)
		}
	}
	if reason, _ := problemOf(t, StandardWebhooks, "whsec_MfKQ9r8G"); reason != SecretTooShort {
		t.Errorf("a short key: %s", reason)
	}
}
