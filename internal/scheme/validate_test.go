// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func described() Scheme {
	return Scheme{
		Signature:     Signature{Header: "X-Signature", Separator: ",", Prefix: "v1="},
		StringToSign:  "{timestamp}.{body}",
		Timestamp:     &Timestamp{Prefix: "t="},
		EventID:       []Source{{Path: []string{"id"}}},
		EventIDSigned: true,
	}.WithDefaults()
}

func TestWithDefaults(t *testing.T) {
	got := Scheme{Signature: Signature{Header: "X-Signature"}, EventID: []Source{{Header: "X-Id"}}}.WithDefaults()
	want := Scheme{
		Name:         HMAC,
		Signature:    Signature{Header: "X-Signature", Encoding: Hex, Algorithm: SHA256},
		StringToSign: "{body}",
		Key:          Key{Encoding: Raw, MinBytes: MinKeyBytes},
		EventID:      []Source{{Header: "X-Id"}},
		Behavior:     Behavior{RetryHorizon: DefaultRetryHorizon, Rotation: RotationImmediate},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := Validate(got); err != nil {
		t.Error(err)
	}
	encoded := Scheme{Key: Key{Encoding: Base64}}.WithDefaults()
	if encoded.Key.MinBytes != MinIssuedKeyBytes {
		t.Errorf("an encoded key has at least %d bytes", encoded.Key.MinBytes)
	}
	if s := described(); s.Timestamp.Header != "X-Signature" || s.Timestamp.Unit != Seconds {
		t.Errorf("timestamp: %+v", s.Timestamp)
	}
}

func TestValidateAccepts(t *testing.T) {
	for name, change := range map[string]func(*Scheme){
		"as it is": func(*Scheme) {},
		"timestamp in a header of its own": func(s *Scheme) {
			s.Timestamp = &Timestamp{Header: "X-Time", Unit: Milliseconds}
			s.Signature.Separator, s.Signature.Prefix = "", ""
		},
		"signed id": func(s *Scheme) {
			s.StringToSign = "{id}.{timestamp}.{body}"
			s.EventID = []Source{{Header: "X-Id"}}
		},
		"unsigned id that says so":       func(s *Scheme) { s.EventID, s.EventIDSigned = []Source{{Header: "X-Id"}}, false },
		"signed id that claims the body": func(s *Scheme) { s.EventIDSigned = false },
		"text around the placeholders":   func(s *Scheme) { s.StringToSign = "v0:{timestamp}:{body}" },
		"body first":                     func(s *Scheme) { s.StringToSign = "{body}.{timestamp}" },
		"timestamp at the body":          func(s *Scheme) { s.StringToSign = "{method}{url}{body}{timestamp}" },
		"id behind the body":             func(s *Scheme) { s.StringToSign = "{timestamp}.{body}.{id}"; s.EventID = []Source{{Header: "X-Id"}} },
		"URL with an end":                func(s *Scheme) { s.StringToSign = "{url}\n{timestamp}{body}" },
		"weak, where nothing is better":  func(s *Scheme) { s.Signature.Algorithm = SHA1 },
		"no rotation said":               func(s *Scheme) { s.Behavior.Rotation = "" },
		"digest last":                    func(s *Scheme) { s.EventID = append(s.EventID, Source{BodyDigest: true}) },
		"composed id":                    func(s *Scheme) { s.EventID = []Source{{Compose: []Source{at("a"), at("b", "c")}}} },
		"alias":                          func(s *Scheme) { s.HeaderAliases = map[string]string{"x-signature": "Y-Signature"} },
		"batch":                          func(s *Scheme) { s.Batch = &Batch{Path: []string{"events"}, Member: "event"} },
		"form":                           func(s *Scheme) { s.FormField, s.FormObject = "payload", true },
		"handshakes": func(s *Scheme) {
			s.Handshakes = []Handshake{
				{Kind: URLVerification},
				{Kind: URLValidation},
				{Kind: EchoChallenge},
				{Kind: HubChallenge, VerifyToken: "t"},
				{Kind: OriginConsent, Origins: []string{"*"}},
			}
		},
		"items": func(s *Scheme) {
			s.Signature.Header, s.Signature.Path, s.Timestamp, s.Batch = "", []string{"sig"}, nil, &Batch{}
			s.StringToSign, s.EventID = "{item.id}:{item.a.b...}:{item.c}", []Source{at("id")}
		},
	} {
		s := described()
		change(&s)
		if err := Validate(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Scheme)
		want   string
	}{
		"no name":                   {func(s *Scheme) { s.Name = "" }, "scheme:"},
		"no header":                 {func(s *Scheme) { s.Signature.Header = "" }, "signature.header:"},
		"header with a colon":       {func(s *Scheme) { s.Signature.Header = "X:Y" }, "signature.header:"},
		"header of the connection":  {func(s *Scheme) { s.EventID = []Source{{Header: "Host"}} }, "eventID.header:"},
		"unknown separator":         {func(s *Scheme) { s.Signature.Separator = "|" }, "signature.separator:"},
		"separator in the prefix":   {func(s *Scheme) { s.Signature.Prefix = "v1," }, "signature.prefix:"},
		"blank in the prefix":       {func(s *Scheme) { s.Signature.Prefix = "v1 =" }, "signature.prefix:"},
		"raw signatures":            {func(s *Scheme) { s.Signature.Encoding = Raw }, "signature.encoding:"},
		"weak algorithm":            {func(s *Scheme) { s.Signature.Algorithm, s.Name = SHA1, Stripe }, "signature.algorithm:"},
		"unknown algorithm":         {func(s *Scheme) { s.Signature.Algorithm = "MD5" }, "signature.algorithm:"},
		"no body":                   {func(s *Scheme) { s.StringToSign = "{timestamp}" }, "must contain {body}"},
		"body twice":                {func(s *Scheme) { s.StringToSign = "{body}{timestamp}{body}" }, "more than once"},
		"unknown placeholder":       {func(s *Scheme) { s.StringToSign = "{host}{timestamp}.{body}" }, "the placeholders are"},
		"timestamp not signed":      {func(s *Scheme) { s.StringToSign = "{body}" }, "when, and only when"},
		"timestamp nowhere":         {func(s *Scheme) { s.Timestamp = nil }, "when, and only when"},
		"signed id in the body":     {func(s *Scheme) { s.StringToSign = "{id}.{timestamp}.{body}" }, "needs eventID.header"},
		"id next to the body":       {func(s *Scheme) { s.StringToSign = "{timestamp}.{id}{body}"; s.EventID = []Source{{Header: "X-Id"}} }, "after it"},
		"unknown unit":              {func(s *Scheme) { s.Timestamp.Unit = "Minutes" }, "timestamp.unit:"},
		"timestamp's header":        {func(s *Scheme) { s.Timestamp.Header = "X Y" }, "timestamp.header:"},
		"shared header, no list":    {func(s *Scheme) { s.Signature.Separator = "" }, "timestamp.header:"},
		"shared header, no prefix":  {func(s *Scheme) { s.Timestamp.Prefix = "" }, "timestamp.prefix:"},
		"shared header, same start": {func(s *Scheme) { s.Timestamp.Prefix = "v1=t" }, "begin alike"},
		"separator in t's prefix":   {func(s *Scheme) { s.Timestamp.Prefix = "t," }, "signature.separator"},
		"unknown key encoding":      {func(s *Scheme) { s.Key.Encoding = "Base32" }, "key.encoding:"},
		"empty keys":                {func(s *Scheme) { s.Key.MinBytes = 0 }, "key.minBytes:"},
		"key lengths crossed":       {func(s *Scheme) { s.Key.MaxBytes = 1 }, "key.maxBytes:"},
		"no id":                     {func(s *Scheme) { s.EventID = nil }, "eventID:"},
		"two places in one source":  {func(s *Scheme) { s.EventType = []Source{{Header: "X", Path: []string{"x"}}} }, "eventType:"},
		"empty member":              {func(s *Scheme) { s.ResourceID = []Source{{Path: []string{"a", ""}}} }, "resourceID.path:"},
		"member is not UTF-8":       {func(s *Scheme) { s.ResourceID = []Source{{Path: []string{"\xff"}}} }, "resourceID.path:"},
		"path too deep":             {func(s *Scheme) { s.EventID[0].Path = strings.Split(strings.Repeat("a", 17), "") }, "more than 16"},
		"unsigned id said signed":   {func(s *Scheme) { s.EventID = []Source{{Header: "X-Id"}} }, "eventIDSigned:"},
		"no retry horizon":          {func(s *Scheme) { s.Behavior.RetryHorizon = 0 }, "behavior.retryHorizon:"},
	} {
		s := described()
		test.change(&s)
		if err := Validate(s); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
	}
}

// TestValidateRefusesWhatIsNew is about all but a signature over an id, a time and the body.
func TestValidateRefusesWhatIsNew(t *testing.T) {
	items := func(s *Scheme) {
		s.Signature.Header, s.Signature.Path, s.Timestamp, s.Batch = "", []string{"sig"}, nil, &Batch{}
		s.StringToSign, s.EventID = "{item.id}:{item.b}", []Source{at("id")}
	}
	handshake := func(h ...Handshake) func(*Scheme) { return func(s *Scheme) { s.Handshakes = h } }
	header := []Source{{Header: "X-Id"}}
	for name, test := range map[string]struct {
		change func(*Scheme)
		want   string
	}{
		"URL beside the time":      {func(s *Scheme) { s.StringToSign = "{url}{timestamp}.{body}" }, "after {url}"},
		"URL behind the body":      {func(s *Scheme) { s.StringToSign = "{timestamp}.{body}{url}" }, "before {url}"},
		"id at the body's end":     {func(s *Scheme) { s.StringToSign = "{timestamp}.{body}{id}"; s.EventID = header }, "before {id}"},
		"body and form":            {func(s *Scheme) { s.StringToSign = "{timestamp}.{body}{form}" }, "one of them only"},
		"item without its path":    {func(s *Scheme) { s.StringToSign = "{timestamp}.{item.a}.{body}" }, "signature.path"},
		"open brace":               {func(s *Scheme) { s.StringToSign = "{timestamp}.{body" }, "other braces"},
		"empty member":             {func(s *Scheme) { items(s); s.StringToSign = "{item.a..b}" }, "a member's name"},
		"item beside item":         {func(s *Scheme) { items(s); s.StringToSign = "{item.id}{item.b}" }, "after {item.id}"},
		"item behind the free one": {func(s *Scheme) { items(s); s.StringToSign = "{item.a...}{item.id}" }, "before {item.id}"},
		"two free items":           {func(s *Scheme) { items(s); s.StringToSign = "{item.id...}:{item.b...}" }, "may be anything"},
		"items and the body":       {func(s *Scheme) { items(s); s.StringToSign = "{item.id}:{body}" }, "without {body}"},
		"items and the URL":        {func(s *Scheme) { items(s); s.StringToSign = "{item.id}:{url}" }, "not {url}"},
		"items without a batch":    {func(s *Scheme) { items(s); s.Batch = nil }, "say in batch"},
		"two places":               {func(s *Scheme) { items(s); s.Signature.Header = "X-S" }, "not both"},
		"unsigned id of an item":   {func(s *Scheme) { items(s); s.EventID = []Source{at("other")} }, "eventIDSigned:"},
		"digest of an item":        {func(s *Scheme) { items(s); s.EventID = []Source{{BodyDigest: true}} }, "eventIDSigned:"},
		"token in a body":          {func(s *Scheme) { items(s); s.Signature.Algorithm = Token }, "signature.path:"},
		"token that signs":         {func(s *Scheme) { s.Signature.Algorithm, s.Signature.Encoding = Token, Raw }, "stringToSign: a Token"},
		"token with a time":        {func(s *Scheme) { s.Signature.Algorithm = Token }, "timestamp: a Token"},
		"token in hexadecimal":     {func(s *Scheme) { s.Signature.Algorithm = Token }, "signature.encoding:"},
		"token, decoded":           {func(s *Scheme) { s.Signature.Algorithm, s.Key.Encoding = Token, Hex }, "key.encoding:"},
		"short public key":         {func(s *Scheme) { s.Signature.Algorithm = Ed25519 }, "has 32 bytes"},
		"alias of nothing":         {func(s *Scheme) { s.HeaderAliases = map[string]string{"X-Other": "Y"} }, "no header"},
		"alias without signature": {func(s *Scheme) {
			s.EventID, s.EventIDSigned, s.HeaderAliases = header, false, map[string]string{"X-Id": "Y"}
		}, "signature.header"},
		"alias that is no header": {func(s *Scheme) { s.HeaderAliases = map[string]string{"X-Signature": "a b"} }, "headerAliases:"},
		"alias twice": {func(s *Scheme) {
			s.EventID, s.EventIDSigned, s.HeaderAliases = header, false, map[string]string{"X-Id": "Y", "X-Signature": "y"}
		}, "two headers"},
		"digest first":            {func(s *Scheme) { s.EventID = []Source{{BodyDigest: true}, at("id")} }, "put them last"},
		"digest as a type":        {func(s *Scheme) { s.EventType = []Source{{BodyDigest: true}} }, "ids of events only"},
		"composed of one":         {func(s *Scheme) { s.EventID = []Source{{Compose: []Source{at("a")}}} }, "at least two"},
		"composed of composed":    {func(s *Scheme) { s.EventID = []Source{{Compose: []Source{at("a"), {Compose: []Source{at("b")}}}}} }, "headers and paths"},
		"header id in a batch":    {func(s *Scheme) { s.Batch, s.EventID, s.EventIDSigned = &Batch{}, header, false }, "would all have that id"},
		"form in a batch":         {func(s *Scheme) { s.Batch, s.FormField = &Batch{}, "payload" }, "batch:"},
		"endless field":           {func(s *Scheme) { s.FormField = strings.Repeat("a", 1025) }, "formField:"},
		"endless acknowledgment":  {func(s *Scheme) { s.Acknowledgment = strings.Repeat("a", 1025) }, "acknowledgment:"},
		"unknown rotation":        {func(s *Scheme) { s.Behavior.Rotation = "Slow" }, "behavior.rotation:"},
		"unknown handshake":       {handshake(Handshake{Kind: "Hello"}), "is unknown"},
		"handshake twice":         {handshake(Handshake{Kind: EchoChallenge}, Handshake{Kind: EchoChallenge}), "twice"},
		"challenge for everybody": {handshake(Handshake{Kind: HubChallenge}), "needs verifyToken"},
		"token with a blank":      {handshake(Handshake{Kind: HubChallenge, VerifyToken: "a b"}), "verifyToken:"},
		"token for another":       {handshake(Handshake{Kind: EchoChallenge, VerifyToken: "a"}), "belongs to HubChallenge"},
		"consent to nobody":       {handshake(Handshake{Kind: OriginConsent}), "needs origins"},
		"consent to nothing":      {handshake(Handshake{Kind: OriginConsent, Origins: []string{""}}), "origins:"},
		"origins for another":     {handshake(Handshake{Kind: EchoChallenge, Origins: []string{"a"}}), "belong to OriginConsent"},
		"ping without types":      {handshake(Handshake{Kind: Ping}), "known by its type"},
		"verification in a batch": {func(s *Scheme) { s.Batch = &Batch{}; s.Handshakes = []Handshake{{Kind: URLVerification}} }, "remove batch"},
	} {
		s := described()
		test.change(&s)
		if err := Validate(s); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
	}
}

func TestValidateNamesEveryProblem(t *testing.T) {
	err := Validate(Scheme{})
	for _, want := range []string{"scheme:", "signature.header:", "signature.encoding:", "signature.algorithm:", "stringToSign:", "key.encoding:", "key.minBytes:", "eventID:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the zero scheme: %v lacks %q", err, want)
		}
	}
}
