// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// HeaderName is the name of an HTTP header; upper and lower case are the same.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=128
// +kubebuilder:validation:Pattern=`^[-_A-Za-z0-9]+$`
// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['host','connection','content-length','transfer-encoding','trailer','te','upgrade','keep-alive','proxy-connection'])",message="this header belongs to the connection and does not reach the receiver as it was sent: name another one"
type HeaderName string

// BodyPath is where a value is in a JSON body: up to 16 member names joined by dots, such as "data.invoice_id".
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:XValidation:rule="self.matches('^[^.]+([.][^.]+){0,15}$') && !self.matches('^[$]([.]|$)')",message="a path is the names of up to 16 members joined by dots, such as data.invoice_id, without $ and without empty names"
type BodyPath string

// ElementPrefix is what an element of a header begins with: visible ASCII characters.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^[!-~]*$`
type ElementPrefix string

// HMACScheme describes how a provider signs and identifies its events, field by field. The rules are those of the scheme that
// receivers verify with, each with its remedy.
//
// +kubebuilder:validation:XValidation:rule="self.signature.algorithm != 'Token' || (self.stringToSign == '{body}' && !has(self.timestamp) && !has(self.signature.path))",message="algorithm Token signs nothing and is in a header: leave hmac.stringToSign, hmac.timestamp and signature.path out"
// +kubebuilder:validation:XValidation:rule="self.stringToSign.matches('^([^{}]|[{](id|timestamp|method|url|form|body)[}]|[{]item[.][^{}.]+([.][^{}.]+){0,15}([.]{3})?[}])*$')",message="the placeholders of stringToSign are {body}, {timestamp}, {id}, {method}, {url}, {form} and, in a batch, {item.<path>}; other braces are not allowed: correct them"
// +kubebuilder:validation:XValidation:rule="['{id}', '{timestamp}', '{method}', '{url}', '{form}', '{body}'].all(p, self.stringToSign.indexOf(p) == self.stringToSign.lastIndexOf(p))",message="stringToSign has a placeholder more than once: remove one"
// +kubebuilder:validation:XValidation:rule="has(self.signature.path) || self.stringToSign.contains('{body}') != self.stringToSign.contains('{form}')",message="stringToSign must contain {body} or, for forms as Twilio signs them, {form}, and one of them only: nothing else signs the event"
// +kubebuilder:validation:XValidation:rule="has(self.signature.path) ? self.stringToSign.contains('{item.') && !self.stringToSign.matches('[{](id|timestamp|method|url|form|body)[}]') : !self.stringToSign.contains('{item.')",message="signature.path and {item.<path>} belong together: with signature.path each item is signed alone, so that stringToSign is made of {item.<path>} only, and without it stringToSign has none"
// +kubebuilder:validation:XValidation:rule="!self.stringToSign.matches(has(self.signature.path) ? '(?s)[}][{]|[.]{3}[}].*[.]{3}[}]' : '(?s)[{]id[}][{](.*[{])?(body|form)[}]|[{]url[}][{].+[{](body|form)[}]|[{](body|form)[}](.*[}])?[{](id|url)[}]')",message="stringToSign can be read in two ways: put the character that the provider signs between {id}, {url} or {item.<path>} and the placeholder beside it, and let only one {item.<path>...} contain it"
// +kubebuilder:validation:XValidation:rule="!self.stringToSign.contains('{timestamp}') || has(self.timestamp)",message="stringToSign contains {timestamp}: say in hmac.timestamp where the timestamp is"
// +kubebuilder:validation:XValidation:rule="!has(self.timestamp) || self.stringToSign.contains('{timestamp}')",message="hmac.timestamp is set but stringToSign has no {timestamp}: an unsigned timestamp proves nothing, remove it or sign it"
// +kubebuilder:validation:XValidation:rule="!self.stringToSign.contains('{id}') || (has(self.eventID.header) && !has(self.eventID.otherwise) && !has(self.eventID.made))",message="stringToSign contains {id}: set hmac.eventID.header to the header that carries the id, and nothing else"
// +kubebuilder:validation:XValidation:rule="!(has(self.timestamp) && has(self.signature.header) && (!has(self.timestamp.header) || self.timestamp.header.lowerAscii() == self.signature.header.lowerAscii())) || has(self.signature.separator)",message="the timestamp is an element of the signature's header, which has only one: set signature.separator, or name the timestamp's own header in timestamp.header"
// +kubebuilder:validation:XValidation:rule="!(has(self.timestamp) && has(self.signature.header) && (!has(self.timestamp.header) || self.timestamp.header.lowerAscii() == self.signature.header.lowerAscii())) || (has(self.signature.prefix) && self.signature.prefix.size() > 0 && has(self.timestamp.prefix) && self.timestamp.prefix.size() > 0 && !self.signature.prefix.startsWith(self.timestamp.prefix) && !self.timestamp.prefix.startsWith(self.signature.prefix))",message="the signature and the timestamp share a header: set signature.prefix and timestamp.prefix, neither of which may begin with the other"
// +kubebuilder:validation:XValidation:rule="!(has(self.timestamp) && has(self.signature.header) && (!has(self.timestamp.header) || self.timestamp.header.lowerAscii() == self.signature.header.lowerAscii())) || !has(self.signature.separator) || !has(self.timestamp.prefix) || !self.timestamp.prefix.contains(self.signature.separator)",message="timestamp.prefix contains signature.separator, so that no element can begin with it: remove the separator from it"
// +kubebuilder:validation:XValidation:rule="!has(self.signature.path) || has(self.batch)",message="signature.path is the place of the signature in each item of a batch: say in hmac.batch where the items are"
// +kubebuilder:validation:XValidation:rule="self.signature.algorithm != 'Ed25519' || ((!has(self.key.encoding) || self.key.encoding != 'Raw') && (!has(self.key.minBytes) || self.key.minBytes == 32) && (!has(self.key.maxBytes) || self.key.maxBytes == 32))",message="with algorithm Ed25519 the secret is the provider's public key of 32 bytes: set key.encoding to Base64 or Hex, and leave minBytes and maxBytes out"
// +kubebuilder:validation:XValidation:rule="self.signature.algorithm != 'Token' || !has(self.key.encoding) || self.key.encoding == 'Raw'",message="a Token is compared as it is: leave key.encoding out"
// +kubebuilder:validation:XValidation:rule="!has(self.batch) || (!has(self.eventID.header) && (!has(self.eventID.compose) || self.eventID.compose.all(c, !has(c.header))) && (!has(self.eventID.otherwise) || self.eventID.otherwise.all(o, !has(o.header))))",message="the events of a batch would all have the id of a header: name a path in the item in hmac.eventID"
// +kubebuilder:validation:XValidation:rule="!has(self.batch) || (!has(self.formField) && (!has(self.forms) || self.forms == 'Refused') && !self.stringToSign.contains('{form}'))",message="a form carries one event: remove hmac.batch, or formField, forms and {form}"
// +kubebuilder:validation:XValidation:rule="!has(self.handshakes) || !has(self.batch) || !self.handshakes.exists(h, h.startsWith('URL'))",message="the handshakes URLVerification and URLValidation are read from a body that is one event: remove them, or hmac.batch"
// +kubebuilder:validation:XValidation:rule="!has(self.handshakes) || !('URLValidation' in self.handshakes) || !(self.signature.algorithm in ['Token', 'Ed25519'])",message="the handshake URLValidation is answered with an HMAC, for which algorithms Token and Ed25519 have no key: remove it"
// +kubebuilder:validation:XValidation:rule="!has(self.handshakes) || !('Ping' in self.handshakes) || has(self.eventType)",message="the handshake Ping is known by its type: say in hmac.eventType where that is"
// +kubebuilder:validation:XValidation:rule="!has(self.eventIDSigned) || !self.eventIDSigned || (self.stringToSign.contains('{id}') || (self.signature.algorithm == 'Token' ? has(self.eventID.made) && self.eventID.made == 'PerRequest' && !has(self.eventID.header) && !has(self.eventID.path) && !has(self.eventID.compose) : !has(self.eventID.header) && (!has(self.eventID.compose) || self.eventID.compose.all(c, has(c.path) && (!has(self.signature.path) || self.stringToSign.contains('{item.' + c.path + '}') || self.stringToSign.contains('{item.' + c.path + '...}')))) && (!has(self.eventID.otherwise) || self.eventID.otherwise.all(o, has(o.path) && (!has(self.signature.path) || self.stringToSign.contains('{item.' + o.path + '}') || self.stringToSign.contains('{item.' + o.path + '...}')))) && (!has(self.signature.path) || ((!has(self.eventID.path) || self.stringToSign.contains('{item.' + self.eventID.path + '}') || self.stringToSign.contains('{item.' + self.eventID.path + '...}')) && (!has(self.eventID.made) || self.eventID.made == 'PerRequest')))))",message="eventIDSigned is true, but what is signed does not cover the id: leave it out, or name an id that is signed"
// +kubebuilder:validation:XValidation:rule="!has(self.headerAliases) || self.headerAliases.all(a, (has(self.signature.header) && self.signature.header.lowerAscii() == a.header.lowerAscii()) || (has(self.timestamp) && has(self.timestamp.header) && self.timestamp.header.lowerAscii() == a.header.lowerAscii()) || (has(self.eventID.header) && self.eventID.header.lowerAscii() == a.header.lowerAscii()) || (has(self.eventID.compose) && self.eventID.compose.exists(s, has(s.header) && s.header.lowerAscii() == a.header.lowerAscii())) || (has(self.eventID.otherwise) && self.eventID.otherwise.exists(s, has(s.header) && s.header.lowerAscii() == a.header.lowerAscii())) || (has(self.eventType) && ((has(self.eventType.header) && self.eventType.header.lowerAscii() == a.header.lowerAscii()) || (has(self.eventType.otherwise) && self.eventType.otherwise.exists(s, has(s.header) && s.header.lowerAscii() == a.header.lowerAscii())))) || (has(self.resourceID) && ((has(self.resourceID.header) && self.resourceID.header.lowerAscii() == a.header.lowerAscii()) || (has(self.resourceID.otherwise) && self.resourceID.otherwise.exists(s, has(s.header) && s.header.lowerAscii() == a.header.lowerAscii())))))",message="headerAliases has a header that is not read: name only headers that are named elsewhere in hmac"
// +kubebuilder:validation:XValidation:rule="!has(self.headerAliases) || !has(self.signature.header) || self.headerAliases.exists(a, a.header.lowerAscii() == self.signature.header.lowerAscii())",message="headerAliases are used where signature.header is absent: give it an alias too"
// +kubebuilder:validation:XValidation:rule="!has(self.headerAliases) || self.headerAliases.all(a, self.headerAliases.exists_one(b, b.header.lowerAscii() == a.header.lowerAscii()) && self.headerAliases.exists_one(b, b.alias.lowerAscii() == a.alias.lowerAscii()))",message="headerAliases has a header or an alias twice: give each header one alias of its own"
type HMACScheme struct {
	// signature says where the signatures are and how they are written.
	// +required
	Signature HMACSignature `json:"signature,omitzero"`

	// headerAliases are other names under which the provider sends headers that are named here. They are used together, and
	// only where the signature's header is absent under its own name. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=header
	// +kubebuilder:validation:MaxItems=8
	HeaderAliases []HeaderAlias `json:"headerAliases,omitempty"`

	// stringToSign is what the provider signs: text with the placeholders {body}, {timestamp}, {id}, {method}, {url} (the
	// public URL with the request's query, see exposure.url), {form} (the fields of a form-encoded body, sorted by name and
	// run together, as Twilio does it) and, where each item of a batch is signed alone, {item.<path>} (a member of the item,
	// such as {item.amount.value}; empty if it is absent). Each of the others may be in it once. {id}, {url} and {item.<path>}
	// end at the text that follows, and must not contain it; one member may, written {item.<path>...}. Default "{body}";
	// algorithm Token signs nothing and leaves it out; 6 to 512 characters.
	// +optional
	// +default="{body}"
	// +kubebuilder:validation:MinLength=6
	// +kubebuilder:validation:MaxLength=512
	StringToSign string `json:"stringToSign,omitempty"`

	// key says how the signing secret's text becomes the key.
	// +optional
	// +default={}
	Key HMACKey `json:"key,omitzero"`

	// timestamp says where the signed timestamp is. Absent: the scheme signs none, and the claim alone stops replays.
	// +optional
	Timestamp *HMACTimestamp `json:"timestamp,omitempty"`

	// eventID says where the id of the delivery is. It must be 1 to 255 printable ASCII characters without spaces.
	// +required
	EventID HMACEventID `json:"eventID,omitzero"`

	// eventIDSigned says whether the signature covers the id. When false, the digest of the body is claimed too (see
	// bodyReuse), so that a captured delivery with a made-up id has no second effect. Default: true when the id is read from
	// the body or stringToSign contains {id}, false otherwise.
	// +optional
	EventIDSigned *bool `json:"eventIDSigned,omitempty"`

	// bodyBetweenAttempts says whether the provider sends the same body with each attempt of one event: Same, where another
	// body under a known id is a conflict and answered with 422, or Changes, where it is a duplicate, for providers that
	// write a counter or a time of the attempt into the body. With Changes a second event under an id by mistake goes
	// unnoticed. Default Same.
	// +optional
	BodyBetweenAttempts BodyBetweenAttempts `json:"bodyBetweenAttempts,omitempty"`

	// eventType says where the type of the event is. Absent: every event has the empty type.
	// +optional
	EventType *HMACValue `json:"eventType,omitempty"`

	// resourceID says where the id of the thing that the event is about is. Needed by effects with key ResourceAndType.
	// +optional
	ResourceID *HMACValue `json:"resourceID,omitempty"`

	// formField is the field of a form-encoded body (application/x-www-form-urlencoded) that carries the event as JSON; what
	// is signed is the body as it came. Paths are looked up in that JSON, and hookonce.payload returns it. Default: none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	FormField string `json:"formField,omitempty"`

	// forms says what a form-encoded body without formField is: Refused, which is answered with 400, or Object, an event whose
	// JSON is an object of the form's fields: texts, or arrays of texts where a field is there more than once. Default Refused.
	// +optional
	Forms Forms `json:"forms,omitempty"`

	// batch says that one request carries several events, each of which is claimed by itself. Absent: it carries one.
	// +optional
	Batch *HMACBatch `json:"batch,omitempty"`

	// handshakes are the requests by which the provider asks whether the endpoint wants its deliveries: URLVerification
	// (as Slack), URLValidation (as Zoom), EchoChallenge (as Dropbox) and Ping (as GitHub). Two more are turned on in
	// verification.handshake. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=4
	Handshakes []HandshakeName `json:"handshakes,omitempty"`

	// acknowledgment is the body of every answer with a 2xx, for providers that insist on one, such as "[accepted]". Default:
	// the stored result of the event. At most 256 printable ASCII characters.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[ -~]*$`
	Acknowledgment string `json:"acknowledgment,omitempty"`

	// retryHorizon is how long after the first attempt the provider may still send an event, by itself or at a click; the
	// claims are kept for longer (see retention.claims). Default 75h35m5s, of the example schedule of the Standard Webhooks
	// specification; from 1s to 2160h (90 days). A longer one may need a longer retention.claims.
	// +optional
	// +default="75h35m5s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('2160h')",message="hmac.retryHorizon must be from 1s to 2160h (90 days); leave it out if the provider does not say"
	RetryHorizon Duration `json:"retryHorizon,omitempty"`
}

// HMACSignature says where the signatures of a delivery are.
//
// +kubebuilder:validation:XValidation:rule="has(self.header) != has(self.path)",message="set signature.header, or, in a batch whose items carry their signatures, signature.path"
// +kubebuilder:validation:XValidation:rule="!has(self.separator) || !has(self.prefix) || !self.prefix.contains(self.separator)",message="signature.prefix contains signature.separator, so that no element can begin with it: remove the separator from it"
// +kubebuilder:validation:XValidation:rule="self.algorithm == 'Token' || !has(self.prefix) || !self.prefix.endsWith(' ')",message="signature.prefix ends with a space, which only a Token may have before it: remove it"
type HMACSignature struct {
	// header that carries the signatures. No default; needed unless path is set.
	// +optional
	Header HeaderName `json:"header,omitempty"`

	// path of the signature in each item of a batch, such as "additionalData.hmacSignature". Default: none, it is in header.
	// +optional
	Path BodyPath `json:"path,omitempty"`

	// separator between the elements of the header: a comma, a semicolon or a space. Default: the header is one element.
	// +optional
	// +kubebuilder:validation:Enum=",";";";" "
	Separator string `json:"separator,omitempty"`

	// prefix of an element that is a signature, for instance "v1=", "sha256=" or "v1,"; of a Token also "Bearer ", with the
	// space. Elements without it are skipped. Default: none, every element is a signature.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[!-~]* ?$`
	Prefix string `json:"prefix,omitempty"`

	// encoding of a signature: Hex or Base64; algorithm Token ignores it. Default Hex.
	// +optional
	// +default="Hex"
	// +kubebuilder:validation:Enum=Hex;Base64
	Encoding string `json:"encoding,omitempty"`

	// algorithm is SHA256, SHA384, SHA512 or SHA1 for an HMAC with that hash; Ed25519 for a signature that the provider's public
	// key verifies, which is the secret then; Token for a header that carries the secret itself. SHA1 is weak, and Token
	// proves who sent a delivery but nothing of its content: use either only if the provider has nothing else. Default SHA256.
	// +optional
	// +default="SHA256"
	// +kubebuilder:validation:Enum=SHA256;SHA384;SHA512;SHA1;Ed25519;Token
	Algorithm string `json:"algorithm,omitempty"`
}

// HeaderAlias is another name of a header.
type HeaderAlias struct {
	// header as it is named elsewhere in hmac.
	// +required
	Header HeaderName `json:"header,omitempty"`

	// alias is the name under which the provider may send it instead.
	// +required
	Alias HeaderName `json:"alias,omitempty"`
}

// HMACKey says how a signing secret's text becomes the key.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxBytes) || self.maxBytes >= (has(self.minBytes) ? self.minBytes : has(self.encoding) && self.encoding != 'Raw' ? 16 : 4)",message="key.maxBytes is less than key.minBytes (4, or 16 of an encoded key, if it is absent): raise it, or lower the other"
type HMACKey struct {
	// encoding of the secret: Raw (its bytes are the key), Base64 or Hex. Default Raw; with algorithm Ed25519 Base64.
	// +optional
	// +kubebuilder:validation:Enum=Raw;Base64;Hex
	Encoding string `json:"encoding,omitempty"`

	// prefix that is removed before the secret is decoded, for instance "whsec_". A secret without it is taken as it is.
	// Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Prefix string `json:"prefix,omitempty"`

	// minBytes is the least length of the key once decoded, in bytes; a shorter one is refused as cut off, and the endpoint is
	// not Ready with it. Default 4 for Raw and 16 otherwise; from 1 to 1024.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	MinBytes *int32 `json:"minBytes,omitempty"`

	// maxBytes is the greatest length of the key once decoded, in bytes; a longer one is refused as another file. Default
	// 1024; from 1 to 1024.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	MaxBytes *int32 `json:"maxBytes,omitempty"`
}

// HMACTimestamp says where the signed timestamp is.
type HMACTimestamp struct {
	// header that carries the timestamp. Default: the signature's header, as an element with the prefix below.
	// +optional
	Header HeaderName `json:"header,omitempty"`

	// prefix of the element that is the timestamp, for instance "t=". Default: none.
	// +optional
	Prefix ElementPrefix `json:"prefix,omitempty"`

	// unit of the timestamp, counted from 1970-01-01 UTC: Seconds or Milliseconds. Default Seconds.
	// +optional
	// +default="Seconds"
	// +kubebuilder:validation:Enum=Seconds;Milliseconds
	Unit string `json:"unit,omitempty"`
}

// HMACEventID says where the id of an event is, or what it is made of.
//
// +kubebuilder:validation:XValidation:rule="[has(self.header), has(self.path), has(self.compose)].filter(set, set).size() == 1 || (has(self.made) && !has(self.header) && !has(self.path) && !has(self.compose) && !has(self.otherwise))",message="set exactly one of header, path and compose in hmac.eventID, or made alone"
type HMACEventID struct {
	// header that carries the id.
	// +optional
	Header HeaderName `json:"header,omitempty"`

	// path of the id in the JSON body.
	// +optional
	Path BodyPath `json:"path,omitempty"`

	// compose makes one id of several values, all of which must be there, such as a payment's reference and what happened to
	// it. No two lists of values make the same id.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=8
	Compose []HeaderOrPath `json:"compose,omitempty"`

	// otherwise are further places to look at, in this order, when the one above has nothing. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Otherwise []HeaderOrPath `json:"otherwise,omitempty"`

	// made says what the id is made of where an event has none in the places above, or where there are none: BodyDigest, the
	// SHA-256 of the body, so that identical bodies are the same event, or PerRequest, a new id for each request, so that
	// nothing is ever a duplicate, which is only for notifications whose effects do no harm when they happen twice. Default:
	// neither; an event without an id is refused with 400.
	// +optional
	Made MadeID `json:"made,omitempty"`
}

// HMACValue says where a value is: in a header, or at a path in the JSON body. Exactly one of the two is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.header) != has(self.path)",message="set exactly one of header and path"
type HMACValue struct {
	// header that carries the value, if path is absent.
	// +optional
	Header HeaderName `json:"header,omitempty"`

	// path of the value in the JSON body, if header is absent.
	// +optional
	Path BodyPath `json:"path,omitempty"`

	// otherwise are further places to look at, in this order, when the one above has nothing. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Otherwise []HeaderOrPath `json:"otherwise,omitempty"`
}

// HeaderOrPath says where a value is: in a header, or at a path in the JSON body. Exactly one of the two is set.
//
// +kubebuilder:validation:ExactlyOneOf=header;path
type HeaderOrPath struct {
	// header that carries the value, if path is absent.
	// +optional
	Header HeaderName `json:"header,omitempty"`

	// path of the value in the JSON body, if header is absent.
	// +optional
	Path BodyPath `json:"path,omitempty"`
}

// HMACBatch says where the events of one request are.
type HMACBatch struct {
	// path of the array in the JSON body, such as "notificationItems". Default: none, the body is the array.
	// +optional
	Path BodyPath `json:"path,omitempty"`

	// member of each element that holds the event, such as "NotificationRequestItem". Default: none, the element is the event.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Member string `json:"member,omitempty"`
}
