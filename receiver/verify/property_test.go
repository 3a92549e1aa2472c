// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// TestSignThenVerify: what Sign signs, Verify accepts; with any one bit of it changed, it does not.
func TestSignThenVerify(t *testing.T) {
	schemes := everyScheme(t)
	rapid.Check(t, func(t *rapid.T) {
		s := schemes[rapid.SampledFrom(slices.Sorted(keysOf(schemes))).Draw(t, "scheme")]
		s.Signature.Algorithm = rapid.SampledFrom([]scheme.Algorithm{scheme.SHA256, scheme.SHA384, scheme.SHA512}).Draw(t, "algorithm")
		secret := rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, "key")
		other := append(slices.Clone(secret), 'x')
		id := rapid.StringMatching(`[!-,/-~]{1,255}`).Draw(t, "id")
		encodedID, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Appendf(nil, `{"id":%s,"event_id":%s,"x":%d}`, encodedID, encodedID, rapid.Int().Draw(t, "x"))
		at := time.Unix(rapid.Int64Range(1, 4_000_000_000).Draw(t, "at"), 0)
		header, err := Sign(s, [][]byte{secret}, Draft{EventID: id, Body: body}, at)
		if err != nil {
			t.Fatal(err)
		}
		received := at.Add(time.Duration(rapid.Int64Range(-300, 300).Draw(t, "skew")) * time.Second)
		r := &Request{Header: header, Body: body}
		secrets := []receiver.Secret{{Key: other, Fingerprint: "other"}, {Key: secret, Fingerprint: "right"}}
		got, err := Verify(s, secrets, r, received, tolerance)
		if err != nil || got.Events[0].ID != id || got.Fingerprint != "right" {
			t.Fatalf("got %+v, %v", got, err)
		}
		mutate(t, s, r)
		if got, err := Verify(s, secrets, r, received, tolerance); err == nil {
			t.Fatalf("a changed request was accepted as %+v", got)
		}
	})
}

// mutate changes one bit of something that is signed, or of the signature.
func mutate(t *rapid.T, s scheme.Scheme, r *Request) {
	var headers []string
	for _, name := range []string{s.Signature.Header, "Webhook-Id", "Webhook-Timestamp", "X-Slack-Request-Timestamp"} {
		if r.Header.Get(name) != "" {
			headers = append(headers, name)
		}
	}
	what := rapid.SampledFrom(append(headers, "body")).Draw(t, "what")
	target := []byte(r.Header.Get(what))
	if what == "body" {
		target = r.Body
	}
	at := rapid.IntRange(0, len(target)-1).Draw(t, "at byte")
	bit := rapid.IntRange(0, 7).Draw(t, "bit")
	changed := slices.Clone(target)
	changed[at] ^= 1 << bit
	if what == "body" {
		r.Body = changed
		return
	}
	if s.Signature.Encoding == scheme.Hex && strings.EqualFold(string(changed), string(target)) && !strings.ContainsAny(string(target[at]), "tvsh") {
		// Hexadecimal digits mean the same in either case.
		changed[at] = 'g'
	}
	r.Header[http.CanonicalHeaderKey(what)] = []string{string(changed)}
}

func keysOf(m map[string]scheme.Scheme) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// FuzzSignatureHeader: only a header with one timestamp and the right signature as a whole element is accepted.
func FuzzSignatureHeader(f *testing.F) {
	for _, file := range []string{"paymos", "stripe"} {
		for _, v := range vectors(f, file) {
			for _, value := range v.Headers {
				f.Add(value)
			}
		}
	}
	s, _ := scheme.Preset(scheme.Paymos)
	want := hex.EncodeToString(sign(hashOf(scheme.SHA256), key, []byte("1700000000."), []byte(paymosBody)))
	f.Add("t=1700000000,v1=" + want)
	f.Fuzz(func(t *testing.T, value string) {
		r := &Request{Header: http.Header{"X-Webhook-Signature": {value}}, Body: []byte(paymosBody)}
		_, err := Verify(s, secretsOf(key), r, now, 0)
		elements := strings.Split(value, ",")
		times, right := 0, false
		for _, element := range elements {
			if strings.HasPrefix(element, "t=") {
				times++
			}
			right = right || strings.HasPrefix(element, "v1=") && strings.EqualFold(element[3:], want)
		}
		legal := right && times == 1 && slices.Contains(elements, "t=1700000000") && !slices.Contains(elements, "") && len(elements) <= maxElements
		if legal != (err == nil) {
			t.Fatalf("%q: legal is %v, got %v", value, legal, err)
		}
		causeOf(t, err)
	})
}

// FuzzTimestamp: what is accepted as a number is the one way to write it.
func FuzzTimestamp(f *testing.F) {
	for _, text := range []string{"1700000000", "1700000000000", "0", "-1", "1e9", "9223372036854775807", "00", "+1", "Infinity", "ts"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, ok := parseDecimal(text)
		if ok && fmt.Sprint(value) != text {
			t.Fatalf("%q was read as %d", text, value)
		}
	})
}

// FuzzSignature: an accepted signature has one writing in base64, and two per letter in hexadecimal.
func FuzzSignature(f *testing.F) {
	for _, file := range []string{"standard", "shopify", "github"} {
		for _, v := range vectors(f, file) {
			for _, value := range v.Headers {
				f.Add(value[strings.IndexAny(value, ",=")+1:])
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, encoding := range []scheme.Encoding{scheme.Hex, scheme.Base64} {
			signature, ok := decode(encoding, text)
			again := encode(encoding, signature)
			if ok && again != text && !(encoding == scheme.Hex && again == strings.ToLower(text)) {
				t.Fatalf("%s %q was read as %q", encoding, text, again)
			}
		}
	})
}

// FuzzScan compares with encoding/json: both agree on what is JSON and on the values, wherever scan has an answer.
func FuzzScan(f *testing.F) {
	for _, file := range []string{"paymos", "standard", "stripe", "github", "slack", "paddle"} {
		for _, v := range vectors(f, file) {
			f.Add([]byte(v.Body))
		}
	}
	f.Add([]byte(`{"id":"a","id":"b","data":{"id":1}}`))
	f.Add([]byte(`{"id":"\ud83d","data":{"id":"\u0000"}} `))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		values, err := scan(body, [][]string{{"id"}, {"data", "id"}, {"data"}})
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if err == nil && utf8.Valid(body) {
			compare(t, body, values)
		}
	})
}

func compare(t *testing.T, body []byte, values []value) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		t.Fatalf("%q is not JSON for encoding/json: %v", body, err)
	}
	top, _ := document.(map[string]any)
	data, _ := top["data"].(map[string]any)
	for i, want := range []any{top["id"], data["id"], top["data"]} {
		if got := values[i]; got != theirs(want) {
			t.Fatalf("%q: value %d is %+v, and encoding/json has %v", body, i, got, want)
		}
	}
}

func theirs(v any) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case json.Number:
		return value{kind: number, text: v.String()}
	case string:
		if v == "" {
			return value{}
		}
		return value{kind: text, text: v}
	}
	return value{kind: other}
}
