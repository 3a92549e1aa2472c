// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package oracles

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

var standardGrammar = grammar{
	signature: "Webhook-Signature", timestamp: "Webhook-Timestamp", id: "Webhook-Id",
	prefix: "v1,", separator: " ", base64: true,
	head: func(d *delivery) string { return d.eventID + "." + d.signedTime() + "." },
	newSecret: func(r *rand.Rand) string {
		return "whsec_" + base64.StdEncoding.EncodeToString(randomBytes(r, 24+r.IntN(41)))
	},
	keyOf: func(secret string) []byte {
		// What cannot be decoded is another change's doing, and then nothing can be expected of the signature.
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		return key
	},
	newBody: func(r *rand.Rand, d *delivery) string {
		return fmt.Sprintf(`{"type":%q,"timestamp":"2000-01-01T00:00:00Z","data":{"id":%q}}`, d.kind, "obj_"+text(r, 8))
	},
}

var stripeGrammar = grammar{
	signature: "Stripe-Signature", prefix: "v1=", separator: ",", timePrefix: "t=",
	head:      func(d *delivery) string { return d.signedTime() + "." },
	newSecret: func(r *rand.Rand) string { return "whsec_" + text(r, 32) },
	keyOf:     rawKey,
	newBody: func(r *rand.Rand, d *delivery) string {
		return fmt.Sprintf(`{"id":%q,"object":"event","type":%q,"data":{"object":{"id":%q}}}`, d.eventID, d.kind, "in_"+text(r, 8))
	},
}

var githubGrammar = grammar{
	signature: "X-Hub-Signature-256", id: "X-Github-Delivery", eventType: "X-Github-Event", prefix: "sha256=",
	head:      func(*delivery) string { return "" },
	newSecret: rawSecret,
	keyOf:     rawKey,
	newBody: func(r *rand.Rand, _ *delivery) string {
		return fmt.Sprintf(`{"action":"opened","number":%d,"repository":{"id":%d}}`, r.IntN(1000), r.IntN(1000))
	},
}

var slackGrammar = grammar{
	signature: "X-Slack-Signature", timestamp: "X-Slack-Request-Timestamp", prefix: "v0=",
	head:      func(d *delivery) string { return "v0:" + d.signedTime() + ":" },
	newSecret: rawSecret,
	keyOf:     rawKey,
	newBody: func(r *rand.Rand, d *delivery) string {
		if d.kind == "url_verification" {
			return fmt.Sprintf(`{"token":"t","challenge":%q,"type":"url_verification"}`, text(r, 20))
		}
		return fmt.Sprintf(`{"type":"event_callback","event_id":%q,"event":{"type":%q}}`, "Ev"+text(r, 8), d.kind)
	},
}

var paddleGrammar = grammar{
	signature: "Paddle-Signature", prefix: "h1=", separator: ";", timePrefix: "ts=",
	head:      func(d *delivery) string { return d.signedTime() + ":" },
	newSecret: func(r *rand.Rand) string { return "pdl_ntfset_" + text(r, 32) },
	keyOf:     rawKey,
	newBody: func(r *rand.Rand, d *delivery) string {
		return fmt.Sprintf(`{"event_id":%q,"event_type":%q,"data":{"id":%q}}`, d.eventID, d.kind, "txn_"+text(r, 8))
	},
}

var twilioGrammar = grammar{
	signature: "X-Twilio-Signature", base64: true, sha1: true, formSigned: true,
	head: func(d *delivery) string {
		if bytes.HasPrefix(d.body, []byte("{")) || bytes.HasPrefix(d.body, []byte("[")) {
			sum := sha256.Sum256(d.body)
			parameter := "?bodySHA256=" + hex.EncodeToString(sum[:])
			d.url = publicURL + parameter
			return d.urlSigned + parameter
		}
		// What cannot be parsed is signed as far as it can.
		form, _ := url.ParseQuery(string(d.body))
		head := d.urlSigned
		for _, name := range slices.Sorted(maps.Keys(form)) {
			values := slices.Sorted(slices.Values(form[name]))
			for _, value := range slices.Compact(values) {
				head += name + value
			}
		}
		return head
	},
	newSecret: rawSecret,
	keyOf:     rawKey,
	newBody: func(r *rand.Rand, d *delivery) string {
		if r.IntN(4) == 0 {
			return fmt.Sprintf(`{"EventType":%q,"MessageSid":%q}`, d.kind, "SM"+text(r, 8))
		}
		d.contentType = "application/x-www-form-urlencoded"
		fields := []string{"MessageSid=SM" + text(r, 8), "To=%2B18005551212", "Body=a+b%20c%26", "MessageStatus=" + d.kind, "Empty="}
		if r.IntN(6) == 0 {
			fields = append(fields, pick(r, "To=%2B18005551212", "To=other", "Empty=full"))
		}
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		return strings.Join(fields, "&")
	},
}
