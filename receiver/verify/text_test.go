// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// texts are JSON values and what is stored for them as a type or a resource id; empty: nothing can be.
var texts = map[string]string{
	`"order paid"`: "order paid", `"a b"`: "a b", `"rücknahme"`: "rücknahme", `"r\u00fccknahme"`: "rücknahme", `"支付"`: "支付",
	`"\ud83d\ude00"`: "😀", `12`: "12", `"12.0"`: "12.0",
	`"` + strings.Repeat("a", 255) + `"`: strings.Repeat("a", 255),
	`"` + strings.Repeat("a", 256) + `"`: "", `"` + strings.Repeat("ü", 128) + `"`: "", strings.Repeat("1", 256): "",
	`false`: "", `true`: "", `{}`: "", `{"id":"x"}`: "", `[]`: "", `["x"]`: "", `12.0`: "", `1.5`: "", `-1`: "", `1e3`: "",
	`"\u0000"`: "", `"a\u0000b"`: "", `"a\nb"`: "", `"a\u007f"`: "", `"a\u0085"`: "", `"\ud83d"`: "", "\"a\xff\"": "", `"\ufffd"`: "",
}

// TestTypesDescribeOnly: an event whose signature holds is not refused for its type.
func TestTypesDescribeOnly(t *testing.T) {
	for written, want := range texts {
		got, cause := paymos(t, `{"event_id":"e","event_type":`+written+`,"data":{"invoice_id":"r"}}`)
		if cause != "" || got.EventID != "e" || got.EventType != want || got.ResourceID != "r" {
			t.Errorf("%.40s: got %+v, %q; want the type %q", written, got, cause, want)
		}
	}
}

// TestResourcesAreTextsOrRefused: a resource id that was taken for absent would book twice what is booked once.
func TestResourcesAreTextsOrRefused(t *testing.T) {
	for written, want := range texts {
		got, cause := paymos(t, `{"event_id":"e","event_type":"t","data":{"invoice_id":`+written+`,"id":"another"}}`)
		wantCause := ""
		if want == "" {
			wantCause = receiver.CauseBadResourceID
		}
		if cause != wantCause || got.ResourceID != want {
			t.Errorf("%.40s: got %+v, %q; want %q, %q", written, got, cause, want, wantCause)
		}
	}
}

// TestTypesFromHeaders: headers are bytes, and need not be UTF-8.
func TestTypesFromHeaders(t *testing.T) {
	s := preset(t, scheme.GitHub)
	for value, want := range map[string]string{"order paid": "order paid", "rücknahme": "rücknahme", "caf\xe9": "", "a\tb": "", strings.Repeat("a", 256): ""} {
		r := signedRequest(t, s, "payload=1", now, key)
		r.Header.Set("X-Github-Event", value)
		if got := expectAccepted(t, s, secretsOf(key), r); got.EventType != want {
			t.Errorf("%q: got %q, want %q", value, got.EventType, want)
		}
	}
}

// TestATypeThatIsNoneLeavesRoomForTheNext: what counts as absent has the next source asked.
func TestATypeThatIsNoneLeavesRoomForTheNext(t *testing.T) {
	s := preset(t, scheme.Paymos)
	s.EventType = []scheme.Source{{Path: []string{"kind"}}, {Path: []string{"event_type"}}}
	r := signedRequest(t, s, `{"event_id":"e","kind":{},"event_type":"t"}`, now, key)
	if got := expectAccepted(t, s, secretsOf(key), r); got.EventType != "t" {
		t.Errorf("got %+v", got)
	}
}

// TestOnlyTextLeavesVerification: whatever is signed, what a text column gets is UTF-8 without control characters.
func TestOnlyTextLeavesVerification(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same texts on every run
	alphabet := []string{"a", " ", "ü", "支", "\x00", "\x1f", "\x7f", "\u0085", "\xff", "\xc3", "\xed\xa0\x80", "\u2028", "😀"}
	seen := 0
	for range 5000 {
		var content strings.Builder
		for range 1 + random.IntN(4) {
			content.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		// Half are escaped by a JSON encoder, half are as they are.
		quoted := `"` + content.String() + `"`
		if random.IntN(2) == 0 {
			encoded, err := json.Marshal(content.String())
			if err != nil {
				t.Fatal(err)
			}
			quoted = string(encoded)
		}
		got, cause := paymos(t, fmt.Sprintf(`{"event_id":"e","event_type":%s,"data":{"id":%s}}`, quoted, quoted))
		if cause == "" {
			seen++
		}
		for _, text := range []string{got.EventType, got.ResourceID} {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("%q: got %+v, %q", quoted, got, cause)
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d of the texts were accepted", seen)
	}
}
