// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import "strings"

const hmacManifest = `apiVersion: webhooks.hookonce.dev/v1alpha1
kind: WebhookEndpoint
metadata: {name: crm}
spec:
  verification:
    scheme: HMAC
    secretRef: {name: signing, key: secret}
    hmac:
      signature: {header: X-Signature, separator: ",", prefix: "v1="}
      timestamp: {prefix: "t="}
      stringToSign: "{timestamp}.{body}"
      eventID: {path: id}
      eventType: {path: type}
      resourceID: {path: data.id}
  database:
    secretRef: {name: database, key: uri}
  effects:
  - {name: book, eventTypes: ["*"], function: shop.on_contact, key: ResourceAndType}
`

const unsignedManifest = `apiVersion: webhooks.hookonce.dev/v1alpha1
kind: WebhookEndpoint
metadata: {name: shipping}
spec:
  verification:
    scheme: HMAC
    secretRef: {name: signing, key: secret}
    bodyReuse: NewEvent
    hmac:
      signature: {header: X-Signature}
      stringToSign: "{body}"
      eventIDSigned: false
      eventID: {header: X-Id}
      bodyBetweenAttempts: Changes
  database:
    secretRef: {name: database, key: uri}
`

const batchManifest = `apiVersion: webhooks.hookonce.dev/v1alpha1
kind: WebhookEndpoint
metadata: {name: items}
spec:
  verification:
    scheme: HMAC
    secretRef: {name: signing, key: secret}
    hmac:
      signature: {path: extra.signature}
      stringToSign: "{item.ref}:{item.text...}:{item.code}"
      eventID: {compose: [{path: ref}, {path: code}]}
      batch: {path: items, member: item}
  database:
    secretRef: {name: database, key: uri}
`

// with puts fields before the first of hmac.
func with(fields string) string { return fields + "\n      signature:" }

var schemeRefusals = []refusal{
	{"HMACUndescribed", endpointManifest, "scheme: Paymos", "scheme: HMAC", false, "set verification.hmac when, and only when"},
	{"HMACAndPreset", hmacManifest, "scheme: HMAC", "scheme: Paymos", false, "set verification.hmac when, and only when"},
	{"GitHubResource", strings.Replace(endpointManifest, "key: Event", "key: ResourceAndType", 1), "scheme: Paymos", "scheme: GitHub", false, "this verification.scheme has no resource id"},
	{"HMACResource", hmacManifest, "      resourceID: {path: data.id}\n", "", false, "needs verification.hmac.resourceID"},
	{"HeaderAndPath", hmacManifest, "eventType: {path: type}", "eventType: {path: type, header: X-Type}", false, "set exactly one of header and path"},
	{"PartHeaderAndPath", hmacManifest, "{path: type}", "{path: type, otherwise: [{path: kind, header: X-Type}]}", false, "exactly one of the fields in [header path] must be set"},
	{"NeitherHeaderNorPath", hmacManifest, "eventType: {path: type}", "eventType: {}", false, "set exactly one of header and path"},
	{"TimestampNowhere", hmacManifest, `      timestamp: {prefix: "t="}` + "\n", "", false, "say in hmac.timestamp where the timestamp is"},
	{"TimestampUnsigned", hmacManifest, `"{timestamp}.{body}"`, `"{body}"`, false, "an unsigned timestamp proves nothing"},
	{"IDInBodySigned", hmacManifest, `"{timestamp}.{body}"`, `"{id}.{timestamp}.{body}"`, false, "set hmac.eventID.header"},
	{"BodyReuse", endpointManifest, "scheme: Paymos", "scheme: Paymos\n    bodyReuse: Ignored", false, `supported values: "Duplicate"`},
	{"BodyReuseSigned", endpointManifest, "scheme: Paymos", "scheme: Paymos\n    bodyReuse: NewEvent", false, "changes nothing where the signature covers the event id"},
	{"BodyReuseInBody", hmacManifest, "scheme: HMAC", "scheme: HMAC\n    bodyReuse: NewEvent", false, "changes nothing where the signature covers the event id"},
	{"BodyReuseSaysSigned", unsignedManifest, "eventIDSigned: false", "eventIDSigned: true", false, "changes nothing where the signature covers the event id"},
	{"BodyReuseInString", unsignedManifest, `      stringToSign: "{body}"` + "\n      eventIDSigned: false\n", `      stringToSign: "{id}.{body}"` + "\n", false, "changes nothing where the signature covers the event id"},
	{"BodyBetweenAttempts", unsignedManifest, "Changes", "Differs", false, `supported values: "Same"`},
	{"BodyChangesUnsigned", unsignedManifest, "    bodyReuse: NewEvent\n", "", false, "needs a signed event id"},
	{"BodyChangesDuplicate", unsignedManifest, "bodyReuse: NewEvent", "bodyReuse: Duplicate", false, "needs a signed event id"},
	{"URLUnknown", endpointManifest, "scheme: Paymos", "scheme: Square", false, "set exposure.url to it, or exposure.host"},
	{"NoVerifyToken", endpointManifest, "scheme: Paymos", "scheme: Meta", false, "set verification.handshake.verifyToken"},
	{"VerifyTokenUnasked", endpointManifest, "scheme: Paymos", "scheme: Paymos\n    handshake: {verifyToken: hello}", false, "for the schemes Meta and HMAC"},
	{"VerifyTokenBlank", hmacManifest, "hmac:", "handshake: {verifyToken: 'a b'}\n    hmac:", false, "verifyToken"},
	{"EmptyHandshake", hmacManifest, "hmac:", "handshake: {}\n    hmac:", false, "handshake"},
	{"Origin", hmacManifest, "hmac:", "handshake: {origins: ['a b']}\n    hmac:", false, "origins"},

	{"SignatureNowhere", hmacManifest, "header: X-Signature, ", "", false, "set signature.header, or, in a batch"},
	{"SignatureTwice", batchManifest, "path: extra.signature", "path: extra.signature, header: X-Signature", false, "set signature.header, or, in a batch"},
	{"SignatureHopHeader", hmacManifest, "header: X-Signature", "header: Transfer-Encoding", false, "belongs to the connection"},
	{"SignatureHeaderName", hmacManifest, "header: X-Signature", "header: 'X Signature'", false, "signature.header"},
	{"SeparatorInPrefix", hmacManifest, `prefix: "v1="`, `prefix: "v1,"`, false, "signature.prefix contains signature.separator"},
	{"SpaceInPrefix", hmacManifest, `prefix: "v1="`, `prefix: "v1 "`, false, "signature.prefix ends with a space"},
	{"Algorithm", hmacManifest, "prefix: \"v1=\"", "prefix: \"v1=\", algorithm: MD5", false, `supported values: "SHA256"`},
	{"TokenSigns", hmacManifest, "prefix: \"v1=\"", "prefix: \"v1=\", algorithm: Token", false, "algorithm Token signs nothing"},
	{"TokenInItem", batchManifest, "path: extra.signature", "path: extra.signature, algorithm: Token", false, "algorithm Token signs nothing"},
	{"TokenEncoded", unsignedManifest, "{header: X-Signature}", "{header: X-Signature, algorithm: Token}\n      key: {encoding: Hex}", false, "a Token is compared as it is"},
	{"Ed25519Raw", hmacManifest, "prefix: \"v1=\"}", "prefix: \"v1=\", algorithm: Ed25519}\n      key: {encoding: Raw}", false, "set key.encoding to Base64 or Hex"},
	{"Ed25519Length", hmacManifest, "prefix: \"v1=\"}", "prefix: \"v1=\", algorithm: Ed25519}\n      key: {minBytes: 24}", false, "set key.encoding to Base64 or Hex"},
	{"KeyLengths", hmacManifest, "signature:", with("key: {encoding: Hex, maxBytes: 15}"), false, "key.maxBytes is less than key.minBytes"},

	{"Braces", hmacManifest, `"{timestamp}.{body}"`, `"{timestamp}.{payload}{body}"`, false, "other braces are not allowed"},
	{"ItemPath", batchManifest, "{item.code}", "{item.code.}", false, "other braces are not allowed"},
	{"BodyTwice", hmacManifest, `"{timestamp}.{body}"`, `"{timestamp}.{body}.{body}"`, false, "a placeholder more than once"},
	{"NothingSigned", hmacManifest, `"{timestamp}.{body}"`, `"{timestamp}."`, false, "must contain {body}"},
	{"BodyAndForm", hmacManifest, `"{timestamp}.{body}"`, `"{timestamp}.{body}.{form}"`, false, "one of them only"},
	{"ItemInBody", hmacManifest, `"{timestamp}.{body}"`, `"{timestamp}.{item.id}.{body}"`, false, "signature.path and {item.<path>} belong together"},
	{"BodyInItem", batchManifest, "{item.code}", "{body}", false, "signature.path and {item.<path>} belong together"},
	{"ShiftedID", unsignedManifest, `"{body}"`, `"{id}{body}"`, false, "stringToSign can be read in two ways"},
	{"ShiftedIDBehind", unsignedManifest, `"{body}"`, `"{body}{id}"`, false, "stringToSign can be read in two ways"},
	{"ShiftedItems", batchManifest, "{item.ref}:", "{item.ref}", false, "stringToSign can be read in two ways"},
	{"FreeItems", batchManifest, "{item.code}", "{item.code...}", false, "stringToSign can be read in two ways"},
	{"IDOtherwise", unsignedManifest, "stringToSign: \"{body}\"\n      eventIDSigned: false\n      eventID: {", "stringToSign: \"{id}.{body}\"\n      eventIDSigned: false\n      eventID: {otherwise: [{path: id}], ", false, "set hmac.eventID.header"},
	{"TimestampAlone", hmacManifest, `separator: ",", `, "", false, "set signature.separator, or name the timestamp's own header"},
	{"TimestampAlike", hmacManifest, `timestamp: {prefix: "t="}`, `timestamp: {prefix: "v1"}`, false, "neither of which may begin with the other"},
	{"TimestampBare", hmacManifest, `timestamp: {prefix: "t="}`, `timestamp: {header: x-signature}`, false, "neither of which may begin with the other"},
	{"TimestampPrefix", hmacManifest, `timestamp: {prefix: "t="}`, `timestamp: {prefix: "t,"}`, false, "timestamp.prefix contains signature.separator"},

	{"IDUnset", hmacManifest, "eventID: {path: id}", "eventID: {}", false, "set exactly one of header, path and compose"},
	{"IDTwice", hmacManifest, "eventID: {path: id}", "eventID: {path: id, header: X-Id}", false, "set exactly one of header, path and compose"},
	{"IDMadeOtherwise", hmacManifest, "eventID: {path: id}", "eventID: {made: PerRequest, otherwise: [{path: id}]}", false, "or made alone"},
	{"IDComposedOfOne", hmacManifest, "eventID: {path: id}", "eventID: {compose: [{path: id}]}", false, "compose"},
	{"IDDeep", hmacManifest, "eventID: {path: id}", "eventID: {path: " + strings.Repeat("a.", 16) + "a}", false, "up to 16 members"},
	{"IDEmptyName", hmacManifest, "eventID: {path: id}", "eventID: {path: data..id}", false, "without empty names"},
	{"IDJSONPath", hmacManifest, "eventID: {path: id}", "eventID: {path: $.id}", false, "without $"},
	{"IDSaysSigned", unsignedManifest, "eventIDSigned: false", "eventIDSigned: true", false, "eventIDSigned is true, but what is signed does not cover the id"},
	{"IDSaysSignedInItem", batchManifest, "eventID: {compose: [{path: ref}, {path: code}]}", "eventIDSigned: true\n      eventID: {compose: [{path: ref}, {path: id}]}", false, "eventIDSigned is true, but what is signed does not cover the id"},

	{"BatchNowhere", batchManifest, "      batch: {path: items, member: item}\n", "", false, "say in hmac.batch where the items are"},
	{"BatchHeader", hmacManifest, "eventID: {path: id}", "batch: {}\n      eventID: {header: X-Id}", false, "the events of a batch would all have the id of a header"},
	{"BatchForm", hmacManifest, "signature:", with("batch: {}\n      formField: payload"), false, "a form carries one event"},
	{"BatchForms", hmacManifest, "signature:", with("batch: {}\n      forms: Object"), false, "a form carries one event"},
	{"BatchVerification", hmacManifest, "signature:", with("batch: {}\n      handshakes: [URLVerification]"), false, "read from a body that is one event"},
	{"ValidationWithoutKey", unsignedManifest, "{header: X-Signature}", "{header: X-Signature, algorithm: Token}\n      handshakes: [URLValidation]", false, "answered with an HMAC"},
	{"PingUntyped", unsignedManifest, "signature:", with("handshakes: [Ping]"), false, "say in hmac.eventType where that is"},
	{"HandshakeUnknown", unsignedManifest, "signature:", with("handshakes: [HubChallenge]"), false, `supported values: "URLVerification"`},
	{"RetryHorizon", hmacManifest, "signature:", with("retryHorizon: 2161h"), false, "hmac.retryHorizon must be from 1s to 2160h"},
	{"ClaimsOfHorizon", strings.Replace(hmacManifest, "  effects:", "  retention: {claims: 720h}\n  effects:", 1), "signature:", with("retryHorizon: 551h"), false, "retention.claims must be at least 170h longer than hmac.retryHorizon"},

	{"AliasUnread", hmacManifest, "signature:", with("headerAliases: [{header: X-Signature, alias: Signature}, {header: X-Other, alias: Other}]"), false, "name only headers that are named elsewhere"},
	{"AliasAlone", unsignedManifest, "signature:", with("headerAliases: [{header: x-id, alias: Id}]"), false, "where signature.header is absent"},
	{"AliasTwice", unsignedManifest, "signature:", with("headerAliases: [{header: X-Signature, alias: Other}, {header: X-Id, alias: other}]"), false, "give each header one alias"},
	{"AliasedTwice", unsignedManifest, "signature:", with("headerAliases: [{header: X-Signature, alias: A}, {header: x-signature, alias: B}]"), false, "give each header one alias"},
}

var schemeNeighbors = map[string]neighbor{
	"BodyReuseDuplicate":    {endpointManifest, "scheme: Paymos", "scheme: Paymos\n    bodyReuse: Duplicate"},
	"BodyReuseGitHub":       {endpointManifest, "scheme: Paymos", "scheme: GitHub\n    bodyReuse: NewEvent"},
	"BodyReuseUnsaid":       {unsignedManifest, "      eventIDSigned: false\n", ""},
	"BodySame":              {unsignedManifest, "Changes", "Same"},
	"BodyChangesIDInBody":   {hmacManifest, "eventID:", "bodyBetweenAttempts: Changes\n      eventID:"},
	"BodyChangesIDInString": {unsignedManifest, "    bodyReuse: NewEvent\n    hmac:\n      signature: {header: X-Signature}\n      stringToSign: \"{body}\"\n      eventIDSigned: false\n", "    hmac:\n      signature: {header: X-Signature}\n      stringToSign: \"{id}.{body}\"\n"},
	"Origins":               {endpointManifest, "scheme: Paymos", "scheme: Paymos\n    handshake: {origins: [eventemitter.example.com, '*']}"},
	"VerifyTokenHMAC":       {hmacManifest, "hmac:", "handshake: {verifyToken: 'hello!'}\n    hmac:"},
	"SHA1":                  {hmacManifest, "prefix: \"v1=\"", "prefix: \"v1=\", algorithm: SHA1"},
	"Token":                 {unsignedManifest, "{header: X-Signature}", "{header: Authorization, prefix: 'Bearer ', algorithm: Token}"},
	"Ed25519":               {hmacManifest, "prefix: \"v1=\"", "prefix: \"v1=\", algorithm: Ed25519"},
	"BodyFirst":             {hmacManifest, `"{timestamp}.{body}"`, `"{body}.{timestamp}"`},
	"Lines":                 {hmacManifest, `"{timestamp}.{body}"`, `"{method}\n{timestamp}\n{body}\n"`},
	"TimestampHeader":       {hmacManifest, `timestamp: {prefix: "t="}`, `timestamp: {header: X-Time}`},
	"IDMadeAtLast":          {hmacManifest, "eventID: {path: id}", "eventID: {path: id, otherwise: [{path: key}], made: BodyDigest}"},
	"BatchOfBodies":         {hmacManifest, "signature:", with("batch: {}")},
	"FreeLast":              {batchManifest, "{item.text...}:{item.code}", "{item.code}:{item.text...}"},
	"AliasOfCase":           {unsignedManifest, "signature:", with("headerAliases: [{header: x-signature, alias: Signature}, {header: X-ID, alias: Id}]")},
	"KeyOfFour":             {hmacManifest, "signature:", with("key: {maxBytes: 4}")},
	"ClaimsOfHorizon":       {strings.Replace(hmacManifest, "  effects:", "  retention: {claims: 720h}\n  effects:", 1), "signature:", with("retryHorizon: 550h")},
}
