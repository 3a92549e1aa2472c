// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
)

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
	want := hex.EncodeToString(macOf(sha256.New, key, "1700000000."+paymosBody))
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
	s, _ := scheme.Preset(scheme.Paymos)
	v := New(s)
	work := v.newScratch()
	f.Fuzz(func(t *testing.T, text string) {
		for _, encoding := range []scheme.Encoding{scheme.Hex, scheme.Base64} {
			v.scheme.Signature.Encoding = encoding
			work.candidates = work.candidates[:0]
			v.candidate(work, text)
			again := encode(encoding, work.candidates)
			if len(work.candidates) > 0 && again != text && !(encoding == scheme.Hex && again == strings.ToLower(text)) {
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
	v := New(described(f, scheme.Scheme{
		Signature:  scheme.Signature{Header: "X-Test-Signature"},
		EventID:    []scheme.Source{{Path: []string{"id"}}},
		EventType:  []scheme.Source{{Path: []string{"data", "id"}}},
		ResourceID: []scheme.Source{{Path: []string{"data"}}},
	}))
	work := v.newScratch()
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		err := work.scan(body, v.tree)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if err == nil {
			compare(t, body, work.values)
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
		theirs := theirs(want)
		if got := values[i]; got.kind != theirs.kind || string([]rune(string(got.text))) != string(theirs.text) {
			t.Fatalf("%q: value %d is %+v, and encoding/json has %v", body, i, got, want)
		}
	}
}

func theirs(v any) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case bool:
		return value{boolean, []byte(strconv.FormatBool(v))}
	case json.Number:
		return value{number, []byte(v.String())}
	case string:
		if v == "" {
			return value{}
		}
		return value{text, []byte(v)}
	}
	return value{kind: other}
}
