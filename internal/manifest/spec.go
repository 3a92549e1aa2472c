// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"
	"time"
)

// The types below are the manifest's fields as they are written; what they mean is said at those of the API, in the API
// reference. A test compares both, name by name.

// Spec has the members of an endpoint's spec; those that verification has nothing to do with are not looked into.
type Spec struct {
	Verification Verification    `json:"verification"`
	Exposure     Exposure        `json:"exposure"`
	Database     Database        `json:"database"`
	Effects      json.RawMessage `json:"effects"`
	Destinations json.RawMessage `json:"destinations"`
	Retention    json.RawMessage `json:"retention"`
	Limits       Limits          `json:"limits"`
	Receiver     json.RawMessage `json:"receiver"`
	Suspend      json.RawMessage `json:"suspend"`
}

// Database names the Postgres that holds the ledger.
type Database struct {
	SecretRef SecretKeyReference `json:"secretRef"`
	Schema    string             `json:"schema"`
}

// SecretKeyReference names one key of a Secret.
type SecretKeyReference struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Limits bound what a delivery may cost.
type Limits struct {
	MaxBodyBytes int64 `json:"maxBodyBytes"`
}

// Exposure says where the provider reaches the endpoint.
type Exposure struct {
	Path string `json:"path"`
	Host string `json:"host"`
	URL  string `json:"url"`
}

// PathOf returns the path that the receivers of the endpoint of that name serve.
func (e Exposure) PathOf(name string) string {
	if e.Path != "" {
		return e.Path
	}
	return pathPrefix + name
}

// PublicURL returns the URL, without a query, that the provider is given; empty if the manifest does not say.
func (e Exposure) PublicURL(path string) string {
	switch {
	case e.URL != "":
		return e.URL
	case e.Host != "":
		return "https://" + e.Host + path
	}
	return ""
}

// Duration is a length of time as Go writes it.
type Duration string

func (d Duration) or(fallback time.Duration) (time.Duration, error) {
	if d == "" {
		return fallback, nil
	}
	parsed, err := time.ParseDuration(string(d))
	if err != nil {
		return 0, fmt.Errorf("%q: write it as a number with a unit, such as 24h or 90m: %w", string(d), err)
	}
	if parsed <= 0 {
		return 0, fmt.Errorf("%q is not positive", string(d))
	}
	return parsed, nil
}

// Verification says how a delivery proves that it comes from the provider.
type Verification struct {
	SchemeName string             `json:"scheme"`
	SecretRef  SecretKeyReference `json:"secretRef"`
	Tolerance  Duration           `json:"tolerance"`
	Overlap    Duration           `json:"overlap"`
	Retire     string             `json:"retire"`
	MaxOverlap Duration           `json:"maxOverlap"`
	BodyReuse  string             `json:"bodyReuse"`
	Handshake  *HandshakeOptions  `json:"handshake"`
	HMAC       *HMACScheme        `json:"hmac"`
}

// HandshakeOptions says what the answers to a provider's questions need.
type HandshakeOptions struct {
	VerifyToken string   `json:"verifyToken"`
	Origins     []string `json:"origins"`
}

// HMACScheme describes a scheme field by field.
type HMACScheme struct {
	Signature           HMACSignature  `json:"signature"`
	HeaderAliases       []HeaderAlias  `json:"headerAliases"`
	StringToSign        string         `json:"stringToSign"`
	Key                 HMACKey        `json:"key"`
	Timestamp           *HMACTimestamp `json:"timestamp"`
	EventID             HMACEventID    `json:"eventID"`
	EventIDSigned       *bool          `json:"eventIDSigned"`
	BodyBetweenAttempts string         `json:"bodyBetweenAttempts"`
	EventType           *HMACValue     `json:"eventType"`
	ResourceID          *HMACValue     `json:"resourceID"`
	FormField           string         `json:"formField"`
	Forms               string         `json:"forms"`
	Batch               *HMACBatch     `json:"batch"`
	Handshakes          []string       `json:"handshakes"`
	Acknowledgment      string         `json:"acknowledgment"`
	RetryHorizon        Duration       `json:"retryHorizon"`
}

// HMACSignature says where the signatures of a delivery are.
type HMACSignature struct {
	Header    string `json:"header"`
	Path      string `json:"path"`
	Separator string `json:"separator"`
	Prefix    string `json:"prefix"`
	Encoding  string `json:"encoding"`
	Algorithm string `json:"algorithm"`
}

// HeaderAlias is another name of a header.
type HeaderAlias struct {
	Header string `json:"header"`
	Alias  string `json:"alias"`
}

// HMACKey says how a secret's text becomes the key.
type HMACKey struct {
	Encoding string `json:"encoding"`
	Prefix   string `json:"prefix"`
	MinBytes int32  `json:"minBytes"`
	MaxBytes int32  `json:"maxBytes"`
}

// HMACTimestamp says where the signed timestamp is.
type HMACTimestamp struct {
	Header string `json:"header"`
	Prefix string `json:"prefix"`
	Unit   string `json:"unit"`
}

// HMACEventID says where the event id is, or of what it is made.
type HMACEventID struct {
	Header    string         `json:"header"`
	Path      string         `json:"path"`
	Compose   []HeaderOrPath `json:"compose"`
	Made      string         `json:"made"`
	Otherwise []HeaderOrPath `json:"otherwise"`
}

// HMACValue says where a value is, and where else.
type HMACValue struct {
	Header    string         `json:"header"`
	Path      string         `json:"path"`
	Otherwise []HeaderOrPath `json:"otherwise"`
}

// HeaderOrPath is one place where a value may be.
type HeaderOrPath struct {
	Header string `json:"header"`
	Path   string `json:"path"`
}

// HMACBatch says where the events of one request are.
type HMACBatch struct {
	Path   string `json:"path"`
	Member string `json:"member"`
}
