// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/doctor"
	"github.com/hookonce/hookonce/receiver/verify"
)

func says(d doctor.Diagnosis, want string) bool {
	for _, finding := range d.Findings {
		if strings.Contains(finding.Message, want) {
			return true
		}
	}
	return strings.Contains(strings.Join(d.Notes, "\n"), want)
}

// TestPublicKeysAreNoKeysOfHMAC: whoever knows the public key can sign with it, and nobody is told to accept that.
func TestPublicKeysAreNoKeysOfHMAC(t *testing.T) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	public := private[ed25519.SeedSize:]
	text := "whpk_" + base64.StdEncoding.EncodeToString(public)
	for _, name := range []string{scheme.StandardWebhooks, scheme.Paymos} {
		for _, key := range [][]byte{public, []byte(text), []byte(text[5:])} {
			f := newFixture(t, name, whsecText)
			f.key = key
			f.send()
			f.c.Secrets[0].Text = []byte(text + "\n")
			d := doctor.Diagnose(f.c, verify.Verify)
			if d.Verifies || len(d.Findings) > 0 || !says(d, "belongs to the scheme StandardWebhooksEd25519") {
				t.Errorf("%s: got %+v, want a note on the scheme alone", name, d)
			}
		}
	}
	f := newFixture(t, scheme.StandardWebhooks, whsecText)
	f.scheme, _ = scheme.Preset(scheme.StandardWebhooksEd25519)
	f.key = private
	f.send()
	f.c.Secrets[0].Text = []byte(text)
	d := doctor.Diagnose(f.c, verify.Verify)
	if len(d.Findings) != 1 || d.Findings[0].Name != "OtherScheme" || !says(d, "scheme StandardWebhooksEd25519") {
		t.Errorf("signed with the private key: got %+v, want the scheme", d)
	}
}

func TestLegacyHeaderIsNamedWithAnySecret(t *testing.T) {
	for _, key := range []string{rawText, "a-secret-that-nobody-has"} {
		f := newFixture(t, scheme.GitHub, rawText)
		f.key = []byte(key)
		signs(scheme.SHA1)(f)
		f.scheme.Signature.Header, f.scheme.Signature.Prefix = "X-Hub-Signature", "sha1="
		f.send()
		d := doctor.Diagnose(f.c, verify.Verify)
		if !says(d, "only the older header X-Hub-Signature, with SHA-1, and not X-Hub-Signature-256: let the provider send the latter") {
			t.Errorf("got %+v, want the older header", d)
		}
	}
}

func TestLostQueryIsNoted(t *testing.T) {
	f := newFixture(t, scheme.Square, rawText)
	f.url = publicURL + "?tenant=7"
	f.send()
	if d := doctor.Diagnose(f.c, verify.Verify); len(d.Findings) > 0 || !says(d, "if the URL at the provider has one, a proxy removed it") {
		t.Errorf("got %+v, want a note on the query", d)
	}
}
