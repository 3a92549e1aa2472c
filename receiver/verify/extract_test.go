// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// paymos signs a body as Paymos does and returns what becomes of it.
func paymos(t testing.TB, body string) (accepted, string) {
	t.Helper()
	s := preset(t, scheme.Paymos)
	got, err := Verify(s, secretsOf(key), signedRequest(t, s, body, now, key), now, tolerance)
	return only(got), causeOf(t, err)
}

func TestExtract(t *testing.T) {
	for name, test := range map[string]struct {
		body                string
		cause               string
		id, typ, resourceID string
	}{
		"invoice":                       {body: paymosBody, id: "evt_123", typ: "invoice.paid", resourceID: "inv_123"},
		"withdrawal":                    {body: `{"event_id":"e","event_type":"t","data":{"withdrawal_id":"wdr_1"}}`, id: "e", typ: "t", resourceID: "wdr_1"},
		"deposit":                       {body: `{"event_id":"e","event_type":"t","data":{"payment_channel_id":"pc_1","id":"pcd_1"}}`, id: "e", typ: "t", resourceID: "pcd_1"},
		"first source wins":             {body: `{"event_id":"e","data":{"id":"last","withdrawal_id":"middle","invoice_id":"first"}}`, id: "e", resourceID: "first"},
		"null is no value":              {body: `{"event_id":"e","event_type":null,"data":{"invoice_id":null,"id":"r"}}`, id: "e", resourceID: "r"},
		"empty is no value":             {body: `{"event_id":"e","event_type":"","data":{"invoice_id":"","id":"r"}}`, id: "e", resourceID: "r"},
		"no type, no resource":          {body: `{"event_id":"e"}`, id: "e"},
		"data is a string":              {body: `{"event_id":"e","data":"x"}`, id: "e"},
		"data is an array":              {body: `{"event_id":"e","data":[{"id":"x"}]}`, id: "e"},
		"numbered resource":             {body: `{"event_id":"e","data":{"id":8202522731445525542}}`, id: "e", resourceID: "8202522731445525542"},
		"escaped name":                  {body: `{"\u0065vent_id":"e"}`, id: "e"},
		"escaped value":                 {body: `{"event_id":"\u0065"}`, id: "e"},
		"longest id":                    {body: `{"event_id":"` + strings.Repeat("~", 255) + `"}`, id: strings.Repeat("~", 255)},
		"B27 NUL elsewhere":             {body: `{"event_id":"e","a":"x\u0000y","\u0000":1}`, id: "e"},
		"B28 lone surrogate elsewhere":  {body: `{"event_id":"e","a":"\ud83d","b":"\udc00\ud83d","c":"\\u0000"}`, id: "e"},
		"invalid UTF-8 elsewhere":       {body: "{\"event_id\":\"e\",\"a\":\"\xff\"}", id: "e"},
		"B30 big numbers elsewhere":     {body: `{"event_id":"e","f":1e400,"d":0.1000000000000000055}`, id: "e"},
		"name repeated where not read":  {body: `{"event_id":"e","a":1,"a":2,"data":{"b":1,"b":2}}`, id: "e"},
		"id repeated deeper":            {body: `{"event_id":"e","x":{"event_id":"other"}}`, id: "e"},
		"B31 id twice":                  {body: `{"event_id":"e","event_id":"f"}`, cause: receiver.CauseMalformedBody},
		"B31 id twice, equal":           {body: `{"event_id":"e","event_id":"e"}`, cause: receiver.CauseMalformedBody},
		"B31 id twice, one escaped":     {body: `{"event_id":"e","event_\u0069d":"f"}`, cause: receiver.CauseMalformedBody},
		"B31 id twice, one null":        {body: `{"event_id":null,"event_id":"f"}`, cause: receiver.CauseMalformedBody},
		"B31 type twice":                {body: `{"event_id":"e","event_type":"a","event_type":"b"}`, cause: receiver.CauseMalformedBody},
		"B31 parent twice":              {body: `{"event_id":"e","data":{"invoice_id":"a"},"data":{"id":"b"}}`, cause: receiver.CauseMalformedBody},
		"B31 resource twice":            {body: `{"event_id":"e","data":{"invoice_id":"a","invoice_id":"b"}}`, cause: receiver.CauseMalformedBody},
		"B34 empty body":                {body: ``, cause: receiver.CauseMalformedBody},
		"not JSON":                      {body: `payload=%7B%7D`, cause: receiver.CauseMalformedBody},
		"cut off":                       {body: `{"event_id":"e"`, cause: receiver.CauseMalformedBody},
		"two values":                    {body: `{"event_id":"e"}{"event_id":"f"}`, cause: receiver.CauseMalformedBody},
		"text after the value":          {body: `{"event_id":"e"} x`, cause: receiver.CauseMalformedBody},
		"comment":                       {body: `{"event_id":"e"/**/}`, cause: receiver.CauseMalformedBody},
		"trailing comma":                {body: `{"event_id":"e",}`, cause: receiver.CauseMalformedBody},
		"byte order mark":               {body: "\ufeff" + `{"event_id":"e"}`, cause: receiver.CauseMalformedBody},
		"single quotes":                 {body: `{'event_id':'e'}`, cause: receiver.CauseMalformedBody},
		"B50 no id":                     {body: `{}`, cause: receiver.CauseMissingEventID},
		"id is null":                    {body: `{"event_id":null}`, cause: receiver.CauseMissingEventID},
		"id is empty":                   {body: `{"event_id":""}`, cause: receiver.CauseMissingEventID},
		"body is an array":              {body: `[{"event_id":"e"}]`, cause: receiver.CauseMissingEventID},
		"body is a string":              {body: `"event_id"`, cause: receiver.CauseMissingEventID},
		"B43 id is a number":            {body: `{"event_id":1}`, cause: receiver.CauseBadEventID},
		"B43 id is true":                {body: `{"event_id":true}`, cause: receiver.CauseBadEventID},
		"B43 id is an object":           {body: `{"event_id":{"event_id":"e"}}`, cause: receiver.CauseBadEventID},
		"B43 id is an array":            {body: `{"event_id":["e"]}`, cause: receiver.CauseBadEventID},
		"id with a blank":               {body: `{"event_id":"e f"}`, cause: receiver.CauseBadEventID},
		"id with NUL":                   {body: `{"event_id":"e\u0000"}`, cause: receiver.CauseBadEventID},
		"id with DEL":                   {body: `{"event_id":"e\u007f"}`, cause: receiver.CauseBadEventID},
		"id not ASCII":                  {body: `{"event_id":"é"}`, cause: receiver.CauseBadEventID},
		"id with a lone surrogate":      {body: `{"event_id":"\ud83d"}`, cause: receiver.CauseBadEventID},
		"id too long":                   {body: `{"event_id":"` + strings.Repeat("a", 256) + `"}`, cause: receiver.CauseBadEventID},
		"B43 resource is an object":     {body: `{"event_id":"e","data":{"invoice_id":{}}}`, cause: receiver.CauseBadResourceID},
		"B43 resource is false":         {body: `{"event_id":"e","data":{"invoice_id":false}}`, cause: receiver.CauseBadResourceID},
		"resource is a fraction":        {body: `{"event_id":"e","data":{"invoice_id":1.5}}`, cause: receiver.CauseBadResourceID},
		"resource is negative":          {body: `{"event_id":"e","data":{"invoice_id":-1}}`, cause: receiver.CauseBadResourceID},
		"resource with an exponent":     {body: `{"event_id":"e","data":{"invoice_id":1e3}}`, cause: receiver.CauseBadResourceID},
		"resource with a line break":    {body: `{"event_id":"e","data":{"invoice_id":"a\nb"}}`, cause: receiver.CauseBadResourceID},
		"wrong type before a good one":  {body: `{"event_id":"e","data":{"invoice_id":[],"id":"r"}}`, cause: receiver.CauseBadResourceID},
		"broken far behind what counts": {body: `{"event_id":"e","z":[1,2,}`, cause: receiver.CauseMalformedBody},
	} {
		got, cause := paymos(t, test.body)
		if cause != test.cause || got.EventID != test.id || got.EventType != test.typ || got.ResourceID != test.resourceID {
			t.Errorf("%s: got %+v, %q; want %+v", name, got, cause, test)
		}
	}
}

func TestB43DeepNesting(t *testing.T) {
	nested := func(depth int) string {
		return `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"event_id":"e"}`
	}
	if _, cause := paymos(t, nested(9_000)); cause != "" {
		t.Errorf("9,000 levels: %s", cause)
	}
	if _, cause := paymos(t, nested(1_000_000)); cause != receiver.CauseMalformedBody {
		t.Errorf("1,000,000 levels: got %q", cause)
	}
	deepID := `{"event_id":` + strings.Repeat(`{"event_id":`, 9_000) + `1` + strings.Repeat("}", 9_001)
	if _, cause := paymos(t, deepID); cause != receiver.CauseBadEventID {
		t.Errorf("nested ids: got %q", cause)
	}
}

// TestScanReadsInPlace holds what is allocated to a small part of the document.
func TestScanReadsInPlace(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"big":"` + strings.Repeat("x", 1<<20) + `","many":[`)
	for i := range 20_000 {
		fmt.Fprintf(&body, `{"name%d":"value"},`, i)
	}
	body.WriteString(`0],"event_id":"e"}`)
	document := []byte(body.String())
	v := New(preset(t, scheme.Paymos))
	work := v.newScratch()
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if err := work.scan(document, v.tree); err != nil {
				b.Fatal(err)
			}
		}
	})
	if result.AllocedBytesPerOp() > 4<<10 || result.AllocsPerOp() > 10 {
		t.Errorf("%d bytes in %d allocations for a document of %d bytes", result.AllocedBytesPerOp(), result.AllocsPerOp(), len(document))
	}
}

func TestTheBodyIsNotReadWithoutASignature(t *testing.T) {
	s := preset(t, scheme.Paymos)
	r := signedRequest(t, s, `{"event_id":`, now, key)
	expectCause(t, s, secretsOf(oldKey), r, receiver.CauseBadSignature, 401)
	expectCause(t, s, secretsOf(key), r, receiver.CauseMalformedBody, 400)
}

func TestGitHubHeaders(t *testing.T) {
	s := preset(t, scheme.GitHub)
	r := signedRequest(t, s, "payload=%7B%22a%22%3A1%7D", now, key)
	if got := expectAccepted(t, s, secretsOf(key), r); got.EventID != "evt_123" || got.EventType != "push" || got.ResourceID != "" {
		t.Errorf("got %+v", got)
	}
	r.Header.Del("X-Github-Event")
	if got := expectAccepted(t, s, secretsOf(key), r); got.EventType != "" {
		t.Errorf("got %+v", got)
	}
	for value, cause := range map[string]string{"": receiver.CauseMissingEventID, "a b": receiver.CauseBadEventID, strings.Repeat("a", 256): receiver.CauseBadEventID, "caf\xe9": receiver.CauseBadEventID} {
		r.Header.Set("X-Github-Delivery", value)
		expectCause(t, s, secretsOf(key), r, cause, 400)
	}
}
