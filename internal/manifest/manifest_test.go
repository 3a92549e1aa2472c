// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/manifest"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
)

const head = "apiVersion: webhooks.hookonce.dev/v1alpha1\nkind: WebhookEndpoint\nmetadata: {name: payments, namespace: shop}\n"

func preset(t *testing.T, name string) scheme.Scheme {
	t.Helper()
	s, found := scheme.Preset(name)
	if !found {
		t.Fatalf("there is no preset %s", name)
	}
	return s
}

func TestParse(t *testing.T) {
	paymos := preset(t, scheme.Paymos)
	want := &manifest.Endpoint{Name: "shop/payments", Scheme: paymos, Tolerance: 5 * time.Minute, Schema: "hookonce", Path: "/webhooks/payments", MaxBodyBytes: 1 << 20}
	minimal := head + "spec:\n  verification: {scheme: Paymos, secretRef: {name: s, key: k}}\n"
	public := *want
	public.Path, public.PublicURL, public.Tolerance, public.MaxBodyBytes = "/in", "https://hooks.example.com/in", time.Minute, 2048
	for name, test := range map[string]struct {
		text string
		want *manifest.Endpoint
	}{
		"Minimal":        {minimal, want},
		"AmongOthers":    {"---\n# nothing\n---\nkind: Secret\n---\n" + minimal + "---\n", want},
		"InAList":        {"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(minimal, "\n", "\n  "), want},
		"JSON":           {`{"apiVersion":"webhooks.hookonce.dev/v1alpha1","kind":"WebhookEndpoint","metadata":{"namespace":"shop","name":"payments"},"spec":{"verification":{"scheme":"Paymos"}}}`, want},
		"ByteOrderMark":  {"\ufeff" + minimal, want},
		"CRLF":           {strings.ReplaceAll(minimal, "\n", "\r\n"), want},
		"FromTheCluster": {minimal + "status: {url: x}\n", want},
		"Exposed": {
			head + "spec:\n  verification: {scheme: Paymos, tolerance: 1m}\n  exposure: {host: hooks.example.com, path: /in}\n  limits: {maxBodyBytes: 2048}\n  effects: [{anything: 1}]\n", &public,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := manifest.Parse([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRenderedConfigurationIsRead(t *testing.T) {
	config := &receiverconfig.Config{
		Endpoint: "shop/payments", Path: "/in", PublicURL: "https://hooks.example.com/in", Scheme: preset(t, scheme.Stripe),
		Tolerance: receiverconfig.Duration(time.Minute), MaxBodyBytes: 1, Schema: "hookonce",
		Retention: receiverconfig.Retention{Claims: receiverconfig.Duration(1000 * time.Hour), Payloads: 1},
	}
	document, err := config.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := manifest.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	want := &manifest.Endpoint{Name: "shop/payments", Scheme: config.Scheme, Tolerance: time.Minute, Schema: "hookonce", Path: "/in", PublicURL: config.PublicURL, MaxBodyBytes: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSamplesAreRead(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/webhookendpoint_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := manifest.Parse(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	verification := func(fields string) string { return head + "spec: {verification: {" + fields + "}}\n" }
	hmac := func(fields string) string {
		return verification("scheme: HMAC, hmac: {signature: {header: X-Signature}, eventID: {path: id}, " + fields + "}")
	}
	for name, test := range map[string]struct{ text, want string }{
		"Nothing":          {"", "empty"},
		"OnlyBlanks":       {"---\n\n", "empty"},
		"NoYAML":           {"a: [", "no YAML object"},
		"Text":             {"just text", "no YAML object"},
		"Twice":            {"kind: A\nkind: B\n", `"kind" already defined`},
		"OtherKind":        {"kind: Secret\n---\nkind: SecretRotation\n", `kind: there is no WebhookEndpoint, only "Secret", "SecretRotation"`},
		"Several":          {verification("scheme: Paymos") + "---\n" + strings.ReplaceAll(verification("scheme: Paymos"), "payments", "crm"), "2 kinds WebhookEndpoint: shop/payments, shop/crm"},
		"OtherVersion":     {strings.ReplaceAll(verification("scheme: Paymos"), "v1alpha1", "v2"), `apiVersion: "webhooks.hookonce.dev/v2"`},
		"UnknownInSpec":    {head + "spec: {verifcation: {}}\n", "spec.verifcation: there is no such field; known are database, "},
		"Unknown":          {verification("scheme: Paymos, sheme: x"), "spec.verification.sheme: there is no such field"},
		"UnknownDeep":      {hmac("timestamp: {heder: x}"), "spec.verification.hmac.timestamp.heder: there is no such field; known are header, prefix, unit"},
		"UnknownInAList":   {hmac("headerAliases: [{header: A, alias: B}, {header: A, name: B}]"), "spec.verification.hmac.headerAliases[1].name: there is no such field"},
		"UnknownExposure":  {head + "spec: {verification: {scheme: Paymos}, exposure: {hostname: x}}\n", "spec.exposure.hostname"},
		"WrongKind":        {verification("scheme: 5"), "spec.verification.scheme: it is a JSON number and should be a string"},
		"WrongKindDeep":    {hmac("timestamp: []"), "spec.verification.hmac.timestamp: it is a JSON array and should be an object"},
		"NoPreset":         {verification("scheme: paymos"), `spec.verification.scheme: "paymos" is no preset`},
		"NotDescribed":     {verification("scheme: HMAC"), "spec.verification.hmac: describe"},
		"Impossible":       {hmac("stringToSign: '{nothing}{body}'"), "spec.verification.hmac: stringToSign"},
		"NoDuration":       {verification("scheme: Paymos, tolerance: soon"), `spec.verification.tolerance: "soon"`},
		"NegativeDuration": {verification("scheme: Paymos, tolerance: -5m"), "spec.verification.tolerance"},
		"NoHorizon":        {hmac("retryHorizon: 1 day"), "spec.verification.hmac.retryHorizon"},
		"ShortHorizon":     {hmac("retryHorizon: 1ms"), "spec.verification.hmac.retryHorizon: it is 1ms, and must be at least 1s"},
		"NoVerifyToken":    {verification("scheme: Meta"), "spec.verification.handshake.verifyToken"},
		"VerifyToken":      {verification("scheme: Paymos, handshake: {verifyToken: t}"), "spec.verification.handshake.verifyToken"},
		"NoConfig":         {`{"version": 1, "scheme": {}}`, "config.json"},
		"TooLarge":         {strings.Repeat("#", manifest.MaxBytes+1), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.Parse([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
