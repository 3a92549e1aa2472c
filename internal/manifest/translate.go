// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
)

// Words of the manifest that the translation looks at.
const (
	bodyReuseNewEvent = "NewEvent"
	bodyChanges       = "Changes"
	madeBodyDigest    = "BodyDigest"
	madePerRequest    = "PerRequest"
	formsObject       = "Object"
)

// Scheme returns the scheme that the JSON of a spec.verification describes, as the operator's own types encode it. The error
// names the field that is unknown or cannot be used.
func Scheme(verification []byte) (scheme.Scheme, error) {
	var v Verification
	var members any
	if err := decode(verification, &members); err != nil {
		return scheme.Scheme{}, err
	}
	if err := refuseUnknown("spec.verification", members, v); err != nil {
		return scheme.Scheme{}, err
	}
	if err := json.Unmarshal(verification, &v); err != nil {
		return scheme.Scheme{}, fmt.Errorf("spec.verification: %w", err)
	}
	return v.Scheme()
}

// Scheme returns the scheme of a preset's name, or the one that is described field by field, with what the endpoint adds to
// either. The error names the field of the spec that cannot be used.
func (v *Verification) Scheme() (scheme.Scheme, error) {
	described, err := v.presetOrDescribed()
	if err != nil {
		return scheme.Scheme{}, err
	}
	described.BodyReuse = v.BodyReuse == bodyReuseNewEvent
	described.Handshakes, err = v.handshakes(described.Handshakes)
	if err != nil {
		return scheme.Scheme{}, err
	}
	if err := scheme.Validate(described); err != nil {
		field := "hmac"
		if v.SchemeName != scheme.HMAC {
			field = "scheme"
		}
		return scheme.Scheme{}, fmt.Errorf("spec.verification.%s: %w", field, err)
	}
	return described, nil
}

func (v *Verification) presetOrDescribed() (scheme.Scheme, error) {
	if v.SchemeName == scheme.HMAC {
		if v.HMAC == nil {
			return scheme.Scheme{}, errors.New("spec.verification.hmac: describe the scheme, or name a preset in scheme")
		}
		return v.HMAC.scheme()
	}
	preset, ok := scheme.Preset(v.SchemeName)
	if !ok {
		return scheme.Scheme{}, fmt.Errorf("spec.verification.scheme: %q is no preset; use HMAC and describe it", v.SchemeName)
	}
	return preset, nil
}

// handshakes adds to those of a scheme what the endpoint says of them: a token for the scheme's own HubChallenge, or for one
// that HMAC gets by it, and origins, which turn OriginConsent on.
func (v *Verification) handshakes(own []scheme.Handshake) ([]scheme.Handshake, error) {
	var options HandshakeOptions
	if v.Handshake != nil {
		options = *v.Handshake
	}
	var out []scheme.Handshake
	asked := false
	for _, handshake := range own {
		if handshake.Kind == scheme.HubChallenge {
			handshake.VerifyToken = options.VerifyToken
			asked = true
		}
		out = append(out, handshake)
	}
	switch {
	case asked && options.VerifyToken == "":
		return nil, fmt.Errorf("spec.verification.handshake.verifyToken: scheme %s asks with it; set it to what you enter there", v.SchemeName)
	case !asked && options.VerifyToken != "" && v.SchemeName != scheme.HMAC:
		return nil, fmt.Errorf("spec.verification.handshake.verifyToken: scheme %s does not ask with it; remove it", v.SchemeName)
	case !asked && options.VerifyToken != "":
		out = append(out, scheme.Handshake{Kind: scheme.HubChallenge, VerifyToken: options.VerifyToken})
	}
	if len(options.Origins) > 0 {
		out = append(out, scheme.Handshake{Kind: scheme.OriginConsent, Origins: options.Origins})
	}
	return out, nil
}

func (h *HMACScheme) scheme() (scheme.Scheme, error) {
	out := scheme.Scheme{
		Name: scheme.HMAC,
		Signature: scheme.Signature{
			Header:    h.Signature.Header,
			Path:      members(h.Signature.Path),
			Separator: h.Signature.Separator,
			Prefix:    h.Signature.Prefix,
			Encoding:  scheme.Encoding(h.Signature.Encoding),
			Algorithm: scheme.Algorithm(h.Signature.Algorithm),
		},
		StringToSign:   h.StringToSign,
		Key:            h.Key.key(),
		EventID:        h.EventID.sources(),
		EventType:      h.EventType.sources(),
		ResourceID:     h.ResourceID.sources(),
		FormField:      h.FormField,
		FormObject:     h.Forms == formsObject,
		Acknowledgment: h.Acknowledgment,
		Behavior:       scheme.Behavior{BodyChanges: h.BodyBetweenAttempts == bodyChanges},
	}
	if out.Signature.Algorithm == scheme.Token && out.StringToSign == scheme.PlaceholderBody {
		// What the API server fills in, and what a Token has none of.
		out.StringToSign, out.Signature.Encoding = "", ""
	}
	for _, other := range h.HeaderAliases {
		if out.HeaderAliases == nil {
			out.HeaderAliases = map[string]string{}
		}
		out.HeaderAliases[other.Header] = other.Alias
	}
	if at := h.Timestamp; at != nil {
		out.Timestamp = &scheme.Timestamp{Header: at.Header, Prefix: at.Prefix, Unit: scheme.Unit(at.Unit)}
	}
	if h.Batch != nil {
		out.Batch = &scheme.Batch{Path: members(h.Batch.Path), Member: h.Batch.Member}
	}
	for _, name := range h.Handshakes {
		out.Handshakes = append(out.Handshakes, scheme.Handshake{Kind: scheme.HandshakeKind(name)})
	}
	horizon, err := h.RetryHorizon.or(0)
	if err != nil {
		return scheme.Scheme{}, fmt.Errorf("spec.verification.hmac.retryHorizon: %w", err)
	}
	if h.RetryHorizon != "" && horizon < time.Second {
		return scheme.Scheme{}, fmt.Errorf("spec.verification.hmac.retryHorizon: it is %v, and must be at least 1s", horizon)
	}
	out.Behavior.RetryHorizon = horizon
	out = out.WithDefaults()
	out.EventIDSigned = out.CoversID()
	if h.EventIDSigned != nil {
		out.EventIDSigned = *h.EventIDSigned
	}
	return out, nil
}

// members splits a path; the empty text is none.
func members(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

func (k *HMACKey) key() scheme.Key {
	return scheme.Key{
		Encoding: scheme.Encoding(k.Encoding), Prefix: k.Prefix, MinBytes: int(k.MinBytes), MaxBytes: int(k.MaxBytes),
	}
}

func (id *HMACEventID) sources() []scheme.Source {
	var out []scheme.Source
	switch {
	case id.Header != "":
		out = append(out, scheme.Source{Header: id.Header})
	case id.Path != "":
		out = append(out, scheme.Source{Path: members(id.Path)})
	case len(id.Compose) > 0:
		out = append(out, scheme.Source{Compose: sources(id.Compose)})
	}
	out = append(out, sources(id.Otherwise)...)
	switch id.Made {
	case madeBodyDigest:
		out = append(out, scheme.Source{BodyDigest: true})
	case madePerRequest:
		out = append(out, scheme.Source{PerRequest: true})
	}
	return out
}

func (v *HMACValue) sources() []scheme.Source {
	if v == nil {
		return nil
	}
	return append([]scheme.Source{{Header: v.Header, Path: members(v.Path)}}, sources(v.Otherwise)...)
}

func sources(list []HeaderOrPath) []scheme.Source {
	var out []scheme.Source
	for _, at := range list {
		out = append(out, scheme.Source{Header: at.Header, Path: members(at.Path)})
	}
	return out
}
