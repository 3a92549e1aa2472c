// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiverconfig_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
)

// full is a configuration with something in every field.
func full(t *testing.T) *receiverconfig.Config {
	t.Helper()
	paymos, ok := scheme.Preset(scheme.Paymos)
	if !ok {
		t.Fatal("no preset Paymos")
	}
	minutes := func(n int) receiverconfig.Duration { return receiverconfig.Duration(time.Duration(n) * time.Minute) }
	return &receiverconfig.Config{
		Version:      receiverconfig.Version,
		Endpoint:     "shop/payments",
		Path:         "/webhooks/payments",
		PublicURL:    "https://hooks.example.com/in",
		Scheme:       paymos,
		Tolerance:    minutes(5),
		MaxBodyBytes: 1 << 20,
		Schema:       "hookonce",
		Effects: []receiverconfig.Effect{{
			Name: "book", EventTypes: []string{"invoice.paid"}, Function: "shop.on_invoice_paid", Key: receiverconfig.KeyResourceAndType,
		}},
		Destinations: []receiverconfig.Destination{{
			Name: "fulfilment", URL: "http://fulfilment.shop.svc/hooks?a=1&b=2", EventTypes: []string{"invoice.*"},
			Timeout: receiverconfig.Duration(1500 * time.Millisecond), Delays: []receiverconfig.Duration{minutes(1), minutes(90)},
		}},
		Retention: receiverconfig.Retention{Claims: minutes(43200), Payloads: minutes(10080)},
	}
}

func encode(t *testing.T, config *receiverconfig.Config) []byte {
	t.Helper()
	document, err := config.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestRoundTrip(t *testing.T) {
	want := full(t)
	document := encode(t, want)
	got, err := receiverconfig.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration changed (-want +got):\n%s", diff)
	}
	if again := encode(t, got); string(again) != string(document) {
		t.Errorf("equal configurations give different bytes:\n%s\n%s", document, again)
	}
	if receiverconfig.Digest(document) != receiverconfig.Digest(encode(t, full(t))) {
		t.Error("equal documents have different digests")
	}
}

func TestDocumentIsForPeople(t *testing.T) {
	document := string(encode(t, full(t)))
	for _, want := range []string{`"timeout": "1.5s"`, `"claims": "720h0m0s"`, `hooks?a=1&b=2"`} {
		if !strings.Contains(document, want) {
			t.Errorf("document has no %s:\n%s", want, document)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	document := string(encode(t, full(t)))
	replace := func(old, with string) string {
		if !strings.Contains(document, old) {
			t.Fatalf("the document has no %s", old)
		}
		return strings.Replace(document, old, with, 1)
	}
	for name, test := range map[string]struct{ document, want string }{
		"Nothing":           {"", "decode configuration"},
		"NoObject":          {"[]", "decode configuration"},
		"Trailing":          {document + "{}", "after top-level value"},
		"NumberAsDuration":  {replace(`"5m0s"`, `300`), "decode configuration"},
		"NegativeDuration":  {replace(`"5m0s"`, `"-5m"`), "negative"},
		"NoDuration":        {replace(`"5m0s"`, `"soon"`), "soon"},
		"ZeroTolerance":     {replace(`"5m0s"`, `"0s"`), "tolerance"},
		"RelativePath":      {replace(`"/webhooks/payments"`, `"webhooks"`), "path"},
		"SchemaInjection":   {replace(`"schema": "hookonce"`, `"schema": "a\"; drop table x"`), "schema"},
		"FunctionInjection": {replace(`shop.on_invoice_paid`, `shop.f(); --`), "function"},
		"UnknownKey":        {replace(`ResourceAndType`, `Resource`), "key"},
		"NoEventTypes":      {replace(`"invoice.paid"`, ``), "eventTypes"},
		"PatternInside":     {replace(`invoice.*`, `in*voice`), "in*voice"},
		"FileURL":           {replace(`http://fulfilment.shop.svc`, `file://x`), "url"},
		"URLPassword":       {replace(`http://fulfilment`, `http://shop:hunter2@fulfilment`), "url is not an absolute http or https URL without a user"},
		"URLFragment":       {replace(`hooks?a=1&b=2`, `hooks#a`), "fragment"},
		"SchemaOfPostgres":  {replace(`"schema": "hookonce"`, `"schema": "pg_hookonce"`), "Postgres's own"},
		"Scheme":            {replace(`"{timestamp}.{body}"`, `"{timestamp}"`), "stringToSign"},
		"ClaimsTooShort":    {replace(`"720h0m0s"`, `"186h2m59s"`), "retention.claims is 186h2m59s, and must be at least 186h3m0s"},
		"PublicQuery":       {replace(`hooks.example.com/in`, `hooks.example.com/in?a=b`), "publicURL"},
		"PublicUser":        {replace(`hooks.example.com`, `user:hunter2@hooks.example.com`), "publicURL"},
		"PublicScheme":      {replace(`https://hooks`, `ftp://hooks`), "publicURL"},
		"PublicNoHost":      {replace(`hooks.example.com/in`, `:443/in`), "publicURL"},
		"SignedURLUnknown":  {strings.Replace(replace(`"{timestamp}.{body}"`, `"{timestamp}.{url}{body}"`), `"https://hooks.example.com/in"`, `""`, 1), "publicURL is empty"},
		"NoVerifyToken":     {replace(`"behavior"`, `"handshakes": [{"kind": "HubChallenge"}], "behavior"`), "verifyToken"},
		"NoOrigins":         {replace(`"behavior"`, `"handshakes": [{"kind": "OriginConsent"}], "behavior"`), "origins"},
		"PayloadsTooLong":   {replace(`"168h0m0s"`, `"721h"`), "retention.payloads"},
		"TooLarge":          {strings.Repeat(" ", receiverconfig.MaxBytes) + document, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := receiverconfig.Parse([]byte(test.document))
			if err == nil {
				t.Fatal("the document was accepted")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error does not say %q: %v", test.want, err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a password: %v", err)
			}
		})
	}
}

// TestParseIgnoresWhatALaterReleaseAdds reads a document of an operator that was upgraded before its receivers.
func TestParseIgnoresWhatALaterReleaseAdds(t *testing.T) {
	document := string(encode(t, full(t)))
	for _, at := range []string{`"path":`, `"separator":`, `"function":`, `"url":`, `"claims":`} {
		if !strings.Contains(document, at) {
			t.Fatalf("the document has no %s", at)
		}
		document = strings.Replace(document, at, `"novelty": {"any": [1]}, `+at, 1)
	}
	got, err := receiverconfig.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(t), got); diff != "" {
		t.Errorf("what is known changed (-want +got):\n%s", diff)
	}
}

func TestParseRefusesOtherVersions(t *testing.T) {
	for document, version := range map[string]int{`{}`: 0, `{"version": 2, "novelty": true}`: 2} {
		var other *receiverconfig.VersionError
		if _, err := receiverconfig.Parse([]byte(document)); !errors.As(err, &other) || other.Version != version {
			t.Errorf("%s: %v, want a VersionError with %d", document, err, version)
		}
	}
}

func TestEncodeRefusesWhatParseWould(t *testing.T) {
	config := full(t)
	config.Destinations = append(config.Destinations, config.Destinations[0])
	if _, err := config.Encode(); err == nil || !strings.Contains(err.Error(), "not unique") {
		t.Errorf("two destinations of one name: %v", err)
	}
	config = full(t)
	config.Destinations[0].URL = "http://user:hunter2@ho st/"
	if _, err := config.Encode(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("bad URL: %v, want an error that does not quote it", err)
	}
}

func TestDestinationsOnNATS(t *testing.T) {
	for _, tt := range []struct{ url, subject, problem string }{
		{"nats://nats.shop.svc:4222", "shop.payments", ""},
		{"tls://nats.shop.svc", "shop.{eventType}.eu", ""},
		{"https://nats.shop.svc", "shop", "url is not nats:// or tls://"},
		{"nats://user:hunter2@nats.shop.svc", "shop", "url is not nats:// or tls://"},
		{"nats://nats.shop.svc/shop", "shop", "url is not nats:// or tls://"},
		{"nats://nats.shop.svc", "", "url is not an absolute http or https URL"},
		{"nats://nats.shop.svc", "shop.>", "cannot be published to"},
		{"nats://nats.shop.svc", "shop..payments", "cannot be published to"},
		{"nats://nats.shop.svc", "{eventType}.{eventType}", "cannot be published to"},
		{"nats://nats.shop.svc", "{eventType}", "cannot be published to"},
		{"nats://nats.shop.svc", "{eventType}.shop", "cannot be published to"},
		{"nats://nats.shop.svc", "_INBOX.shop", "cannot be published to"},
		{"nats://nats.shop.svc", "$JS.API.STREAM.DELETE.SHOP", "cannot be published to"},
	} {
		config := full(t)
		config.Destinations[0].URL, config.Destinations[0].Subject = tt.url, tt.subject
		_, err := config.Encode()
		switch {
		case tt.problem == "" && err != nil:
			t.Errorf("%s %s: %v", tt.url, tt.subject, err)
		case tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s %s: %v, want %s", tt.url, tt.subject, err, tt.problem)
		}
	}
}
