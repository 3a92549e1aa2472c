// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

func adyenItem(psp, reference, success string) string {
	return fmt.Sprintf(`{"additionalData":{"x":1.50},"pspReference":%q,"originalReference":null,"merchantAccountCode":"acct","merchantReference":%q,`+
		`"amount":{"value":1000,"currency":"EUR"},"eventCode":"CAPTURE","success":%q}`, psp, reference, success)
}

func adyenBody(items ...string) string {
	for i := range items {
		items[i] = ` {"NotificationRequestItem" : ` + items[i] + `}`
	}
	return `{"live":"false","notificationItems":[` + strings.Join(items, ",") + `]}`
}

func TestAdyenItems(t *testing.T) {
	s := preset(t, scheme.Adyen)
	r := signedRequest(t, s, adyenBody(adyenItem("psp1", "ref:with:colons", "true"), adyenItem("psp2", "r", "false")), now, key)
	got, err := Verify(s, secretsOf(oldKey, key), r, now, tolerance)
	if err != nil || len(got.Events) != 2 || got.Fingerprint != string(key) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i, want := range []accepted{{"psp1:CAPTURE:true", "CAPTURE", "psp1", ""}, {"psp2:CAPTURE:false", "CAPTURE", "psp2", ""}} {
		event := got.Events[i]
		if event.ID != want.EventID || event.Type != want.EventType || event.ResourceID != want.ResourceID || event.Payload != nil {
			t.Errorf("event %d: %+v", i, event)
		}
		// Exactly the bytes that were received, and not a copy of them.
		at := bytes.Index(r.Body, event.Body)
		if at < 0 || &r.Body[at] != &event.Body[0] || cap(event.Body) != len(event.Body) || !json.Valid(event.Body) {
			t.Errorf("event %d: body %s", i, event.Body)
		}
	}
}

// TestEveryItemMustVerify: one that is right does not carry another one in.
func TestEveryItemMustVerify(t *testing.T) {
	s := preset(t, scheme.Adyen)
	sign := func(item string, with []byte) string {
		return strings.TrimPrefix(strings.TrimSuffix(string(signedRequest(t, s, adyenBody(item), now, with).Body), "}]}"), `{"live":"false","notificationItems":[ {"NotificationRequestItem" : `)
	}
	good, other, expired := sign(adyenItem("psp1", "r", "true"), key), sign(adyenItem("psp2", "r", "true"), []byte("other")), sign(adyenItem("psp3", "r", "true"), oldKey)
	secrets := []receiver.Secret{{Key: key, Fingerprint: "new"}, {Key: oldKey, Fingerprint: "old", NotAfter: now}}
	for name, test := range map[string]struct {
		items []string
		cause string
	}{
		"good":               {[]string{good}, ""},
		"forged first":       {[]string{other, good}, receiver.CauseBadSignature},
		"forged last":        {[]string{good, other}, receiver.CauseBadSignature},
		"unsigned":           {[]string{good, adyenItem("psp4", "r", "true")}, receiver.CauseMissingSignature},
		"expired":            {[]string{good, expired}, receiver.CauseExpiredSecret},
		"another's":          {[]string{good, strings.Replace(good, "psp1", "psp2", 1)}, receiver.CauseBadSignature},
		"additionalData: []": {[]string{strings.Replace(adyenItem("psp1", "r", "true"), `{"x":1.50}`, "[]", 1)}, receiver.CauseMissingSignature},
		"a member twice":     {[]string{strings.Replace(good, `"success"`, `"success":"true","success"`, 1)}, receiver.CauseMalformedBody},
		"colons elsewhere":   {[]string{strings.NewReplacer(`"psp1"`, `"psp1:"`, `"originalReference":null`, `"originalReference":""`).Replace(good)}, receiver.CauseBadSignature},
	} {
		r := &Request{Method: "POST", Body: []byte(adyenBody(slices.Clone(test.items)...))}
		if _, err := Verify(s, secrets, r, now, tolerance); causeOf(t, err) != test.cause {
			t.Errorf("%s: got %v, want %q", name, err, test.cause)
		}
	}
	secrets[1].NotAfter = now.Add(1)
	got, err := Verify(s, secrets, &Request{Method: "POST", Body: []byte(adyenBody(good, expired))}, now, tolerance)
	if err != nil || got.Fingerprint != "old" {
		t.Errorf("two secrets in one batch: got %+v, %v; the older one must not look unused", got, err)
	}
}

// TestColonsOfItems: the string to sign of an item can be read in one way only.
func TestColonsOfItems(t *testing.T) {
	s := preset(t, scheme.Adyen)
	for _, item := range []string{
		strings.Replace(adyenItem("psp1", "r", "true"), `"acct"`, `"acct:r"`, 1),
		strings.Replace(adyenItem("psp1", "r", "true"), `"CAPTURE"`, `"true:CAPTURE"`, 1),
		adyenItem("psp:1", "r", "true"), adyenItem("psp1", "r", "CAPTURE:true"),
	} {
		draft := Draft{Body: []byte(adyenBody(item))}
		if r, err := SignRequest(s, [][]byte{key}, draft, now); err == nil {
			t.Errorf("signed %s", r.Body)
		}
	}
}

func TestMalformedBatches(t *testing.T) {
	adyen, hubspot := preset(t, scheme.Adyen), preset(t, scheme.HubSpot)
	for _, body := range []string{
		``, `[]`, `{}`, `{"notificationItems":null}`, `{"notificationItems":{}}`, `{"notificationItems":[1]}`, `{"notificationItems":[{}]}`,
		`{"notificationItems":[{"NotificationRequestItem":{},"NotificationRequestItem":{}}]}`, `{"notificationItems":[],"notificationItems":[]}`,
		`{"notificationItems":[]} x`, `{"notificationItems":[}`, `{"notificationItems":[` + strings.Repeat(`{"NotificationRequestItem":{}},`, maxItems) + `{"NotificationRequestItem":{}}]}`,
	} {
		expectCause(t, adyen, secretsOf(key), &Request{Method: "POST", Body: []byte(body)}, receiver.CauseMalformedBody, 400)
	}
	expectCause(t, adyen, secretsOf(key), &Request{Method: "POST", Body: []byte(`{"notificationItems":[]}`)}, receiver.CauseMissingSignature, 401)
	for _, body := range []string{`{}`, `[1]`, `[[]]`, `[{}`, `[{}] x`, `[null]`} {
		expectCause(t, hubspot, secretsOf(key), signedRequest(t, hubspot, body, now, key), receiver.CauseMalformedBody, 400)
	}
}

func TestHubSpotItems(t *testing.T) {
	s := preset(t, scheme.HubSpot)
	const one = `{"eventId":100,"subscriptionId":7,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123}`
	const two = `{ "eventId" : 100, "subscriptionId":8,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.deletion","objectId":124}`
	got, err := Verify(s, secretsOf(key), signedRequest(t, s, "[ "+one+",\n"+two+" ]", now, key), now, tolerance)
	if err != nil || len(got.Events) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if e := got.Events[0]; e.ID != "62515:7:100:1564113600000" || e.Type != "contact.creation" || e.ResourceID != "123" || string(e.Body) != one {
		t.Errorf("got %+v", e)
	}
	if e := got.Events[1]; e.ID != "62515:8:100:1564113600000" || string(e.Body) != two {
		t.Errorf("got %+v", e)
	}
	if empty, err := Verify(s, secretsOf(key), signedRequest(t, s, "[]", now, key), now, tolerance); err != nil || len(empty.Events) != 0 {
		t.Errorf("an empty batch: got %+v, %v", empty, err)
	}
	r := signedRequest(t, s, "["+one+"]", now, key)
	r.Method = "PUT"
	expectCause(t, s, secretsOf(key), r, receiver.CauseBadSignature, 401)
	// Not even if that is what was signed: only a POST carries events.
	mac := macOf(sha256.New, key, "PUT"+publicURL+string(r.Body)+r.Header.Get("X-HubSpot-Request-Timestamp"))
	r.Header.Set("X-HubSpot-Signature-v3", base64.StdEncoding.EncodeToString(mac))
	expectCause(t, s, secretsOf(key), r, receiver.CauseBadSignature, 401)
}

// FuzzBatch: items are parts of the body, in order, and what encoding/json finds there.
func FuzzBatch(f *testing.F) {
	for _, v := range vectors(f, "adyen") {
		f.Add([]byte(adyenBody(string(v.Item))))
	}
	f.Add([]byte(`{"notificationItems":[{"NotificationRequestItem":{"a":"\u007d]"}} , {"NotificationRequestItem":{}}],"x":[]}`))
	f.Add([]byte(`{"notification\u0049tems":[{"\u004eotificationRequestItem":{}}]}`))
	v := New(preset(f, scheme.Adyen))
	s := v.newScratch()
	f.Fuzz(func(t *testing.T, body []byte) {
		items, err := s.items(body, v.scheme.Batch)
		if err != nil {
			return
		}
		var theirs struct {
			NotificationItems []struct {
				NotificationRequestItem json.RawMessage `json:"NotificationRequestItem"`
			} `json:"notificationItems"`
		}
		if err := json.Unmarshal(body, &theirs); err != nil {
			t.Fatalf("%q: encoding/json says %v", body, err)
		}
		end := 0
		for _, at := range items {
			if at.start < end || at.end <= at.start || !json.Valid(at.of(body)) {
				t.Fatalf("%q: %+v", body, items)
			}
			end = at.end
		}
		// encoding/json does not mind the case of names.
		if len(theirs.NotificationItems) < len(items) {
			t.Fatalf("%q: %d items, and encoding/json has %d", body, len(items), len(theirs.NotificationItems))
		}
	})
}
