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

func TestValidateNamesEveryProblem(t *testing.T) {
	err := Validate(Scheme{})
	for _, want := range []string{"scheme:", "signature.header:", "signature.encoding:", "signature.algorithm:", "stringToSign:", "key.encoding:", "key.minBytes:", "eventID:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the zero scheme: %v lacks %q", err, want)
		}
	}
}
