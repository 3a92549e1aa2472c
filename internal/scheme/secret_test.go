// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

var (
	rawKey    = Key{Encoding: Raw, MinBytes: 8}
	base64Key = Key{Encoding: Base64, Prefix: "whsec_", MinBytes: 24, MaxBytes: 64}
	hexKey    = Key{Encoding: Hex, MinBytes: 16}
)

const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestTrim(t *testing.T) {
	for in, want := range map[string]string{
		"s3cr3t": "s3cr3t", "s3cr3t\n": "s3cr3t", "s3cr3t\r\n": "s3cr3t", "s3cr3t\n\n": "s3cr3t\n", "s3cr3t\r": "s3cr3t\r",
		"s3cr3t ": "s3cr3t ", "": "", "\n": "", "s3cr3t\n\r\n": "s3cr3t\n",
	} {
		if got := string(Trim([]byte(in))); got != want {
			t.Errorf("Trim(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDecodeAccepts(t *testing.T) {
	standard, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(standardSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		key    Key
		secret string
		want   string
	}{
		"raw":                       {rawKey, "It's a Secret to Everybody", "It's a Secret to Everybody"},
		"raw, one line break":       {rawKey, "long-enough\n", "long-enough"},
		"raw, one CRLF":             {rawKey, "long-enough\r\n", "long-enough"},
		"raw keeps its prefix":      {rawKey, "whsec_test_secret", "whsec_test_secret"},
		"raw, not ASCII":            {rawKey, "geheimnis-für-alle", "geheimnis-für-alle"},
		"base64":                    {base64Key, standardSecret, string(standard)},
		"base64 without the prefix": {base64Key, strings.TrimPrefix(standardSecret, "whsec_"), string(standard)},
		"base64, one line break":    {base64Key, standardSecret + "\n", string(standard)},
		"base64, 64 bytes":          {base64Key, base64.StdEncoding.EncodeToString(make([]byte, 64)), string(make([]byte, 64))},
		"hexadecimal":               {hexKey, strings.Repeat("0a", 16), strings.Repeat("\n", 16)},
		"hexadecimal, upper case":   {hexKey, strings.Repeat("0A", 16), strings.Repeat("\n", 16)},
	} {
		got, err := test.key.Decode([]byte(test.secret))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, test.want)
		}
	}
}

// TestDecodeEd25519: each of the three kinds of keys is told from the others.
func TestDecodeEd25519(t *testing.T) {
	const (
		public  = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="
		private = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=="
	)
	s, _ := Preset(StandardWebhooksEd25519)
	for secret, reason := range map[string]string{
		public: "", public + "\n": "", strings.TrimPrefix(public, "whpk_"): "", private: SecretWrongPrefix, standardSecret: SecretWrongPrefix,
		"v1a," + public: SecretWrongPrefix, public[:20]: SecretUndecodable, "whpk_" + standardSecret[6:]: SecretTooShort,
	} {
		key, err := s.Key.Decode([]byte(secret))
		var problem *SecretProblem
		if reason == "" && (err != nil || len(key) != 32) || reason != "" && (!errors.As(err, &problem) || problem.Reason != reason) {
			t.Errorf("%s: got %d bytes, %v; want %q", secret, len(key), err, reason)
		}
		if problem != nil && strings.Contains(problem.Message, "symmetric secret, whsec_...") {
			t.Errorf("%s: the remedy is that of another scheme: %v", secret, err)
		}
	}
	if key, err := s.SigningKey().Decode([]byte(private)); err != nil || len(key) != 64 {
		t.Errorf("private: got %d bytes, %v", len(key), err)
	}
	if _, err := s.SigningKey().Decode([]byte(public)); err == nil {
		t.Error("signed with a public key")
	}
	if other, _ := Preset(Paymos); other.SigningKey() != other.Key {
		t.Error("Paymos signs with what it verifies with")
	}
}

func TestDecodeRefuses(t *testing.T) {
	encode := base64.StdEncoding.EncodeToString
	for name, test := range map[string]struct {
		key    Key
		secret string
		reason string
	}{
		"empty":                     {rawKey, "", SecretEmpty},
		"only a line break":         {rawKey, "\n", SecretEmpty},
		"only blanks":               {rawKey, "   \t", SecretEmpty},
		"only the prefix":           {base64Key, "whsec_", SecretEmpty},
		"leading blank":             {rawKey, " long-enough", SecretWhitespace},
		"trailing blank":            {rawKey, "long-enough ", SecretWhitespace},
		"trailing tab":              {rawKey, "long-enough\t\n", SecretWhitespace},
		"trailing no-break space":   {rawKey, "long-enough\u00a0", SecretWhitespace},
		"two line breaks":           {rawKey, "long-enough\n\n", SecretWhitespace},
		"carriage return alone":     {rawKey, "long-enough\r", SecretWhitespace},
		"line break inside":         {rawKey, "long\nenough", SecretWhitespace},
		"carriage return inside":    {rawKey, "long\renough", SecretWhitespace},
		"line break in base64":      {base64Key, standardSecret[:20] + "\n" + standardSecret[20:], SecretWhitespace},
		"byte order mark":           {rawKey, "\ufefflong-enough", SecretWhitespace},
		"zero-width space":          {rawKey, "long\u200benough", SecretWhitespace},
		"UTF-16":                    {rawKey, "\xff\xfel\x00o\x00n\x00g\x00", SecretWhitespace},
		"not UTF-8":                 {rawKey, "long-\xc3\x28-enough", SecretUndecodable},
		"NUL":                       {rawKey, "long\x00enough", SecretUndecodable},
		"signature's prefix":        {base64Key, "v1," + standardSecret, SecretWrongPrefix},
		"signature's prefix, raw":   {rawKey, "v1,whsec_test_secret", SecretWrongPrefix},
		"public ed25519 key":        {base64Key, "whpk_" + standardSecret[6:], SecretWrongPrefix},
		"private ed25519 key":       {base64Key, "whsk_" + standardSecret[6:], SecretWrongPrefix},
		"encoded twice":             {rawKey, encode([]byte("whsec_test_secret")), SecretWrongPrefix},
		"stars":                     {rawKey, "********", SecretMasked},
		"stars after the prefix":    {base64Key, "whsec_********", SecretMasked},
		"stars after a start":       {rawKey, "whsec_MfKQ****", SecretMasked},
		"bullets":                   {rawKey, "whsec_••••••••", SecretMasked},
		"dots":                      {base64Key, "whsec_...", SecretMasked},
		"x as placeholder":          {rawKey, "xxxxxxxxxxxx", SecretMasked},
		"too short":                 {rawKey, "seven77", SecretTooShort},
		"too short in base64":       {base64Key, encode(make([]byte, 23)), SecretTooShort},
		"too long in base64":        {base64Key, encode(make([]byte, 65)), SecretTooLong},
		"too long":                  {rawKey, strings.Repeat("k", MaxKeyBytes+1), SecretTooLong},
		"not base64":                {base64Key, "whsec_!!!!", SecretUndecodable},
		"not base64 at the end":     {base64Key, "whsec_xyz!", SecretUndecodable},
		"URL-safe base64":           {base64Key, "whsec_-_8=", SecretUndecodable},
		"base64 without padding":    {base64Key, strings.TrimRight(encode(make([]byte, 25)), "="), SecretUndecodable},
		"base64 with stray bits":    {base64Key, encode(make([]byte, 24)) + "AB==", SecretUndecodable},
		"base64 with a blank":       {base64Key, standardSecret[:20] + " " + standardSecret[20:], SecretUndecodable},
		"odd hexadecimal":           {hexKey, strings.Repeat("0a", 16) + "0", SecretUndecodable},
		"not hexadecimal":           {hexKey, strings.Repeat("0g", 16), SecretUndecodable},
		"unknown encoding":          {Key{Encoding: "Base32", MinBytes: 1}, "long-enough", SecretUndecodable},
		"zero Key":                  {Key{}, "long-enough", SecretUndecodable},
		"raw whsec_ and nothing up": {Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes}, "whsec_", SecretTooShort},
	} {
		got, err := test.key.Decode([]byte(test.secret))
		var problem *SecretProblem
		if !errors.As(err, &problem) || problem.Reason != test.reason || got != nil {
			t.Errorf("%s: got %q, %v; want reason %s and no key", name, got, err, test.reason)
			continue
		}
		if text := strings.TrimSpace(test.secret); len(text) > 6 && strings.Contains(problem.Message, text) {
			t.Errorf("%s: the message repeats the secret: %s", name, problem.Message)
		}
	}
}

// FuzzDecode holds Decode to its rules: a key has a length that the scheme allows, one writing only, and errors do not
// repeat the secret.
func FuzzDecode(f *testing.F) {
	for _, secret := range []string{standardSecret, "whsec_test_secret\n", "v1,whsec_x", "\ufeffabc", "whsec_-_8=", "It's a Secret to Everybody", "********"} {
		f.Add([]byte(secret))
	}
	f.Fuzz(func(t *testing.T, secret []byte) {
		for _, k := range []Key{rawKey, base64Key, hexKey} {
			key, err := k.Decode(secret)
			if err != nil {
				var problem *SecretProblem
				if !errors.As(err, &problem) || key != nil {
					t.Fatalf("got key %q with error %v", key, err)
				}
				continue
			}
			checkWriting(t, k, key, strings.TrimPrefix(string(Trim(secret)), k.Prefix))
		}
	})
}

func checkWriting(t *testing.T, k Key, key []byte, text string) {
	t.Helper()
	most := max(k.MaxBytes, 0)
	if most == 0 {
		most = MaxKeyBytes
	}
	if len(key) < k.MinBytes || len(key) > most {
		t.Fatalf("a key of %d bytes was accepted", len(key))
	}
	var again string
	switch k.Encoding {
	case Raw:
		again = string(key)
	case Base64:
		again = base64.StdEncoding.EncodeToString(key)
	case Hex:
		again, text = hex.EncodeToString(key), strings.ToLower(text)
	}
	if again != text {
		t.Fatalf("the key is written %q, not %q", again, text)
	}
}
