// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/scheme"
)

// Scheme returns the scheme of a preset's name, or the one that is described field by field, with what the endpoint adds
// to either. The error names the field of the spec that cannot be used.
func Scheme(verification *v1alpha1.Verification) (scheme.Scheme, error) {
	described, err := presetOrDescribed(verification)
	if err != nil {
		return scheme.Scheme{}, err
	}
	described.BodyReuse = verification.BodyReuse == v1alpha1.BodyReuseNewEvent
	described.Handshakes, err = handshakes(described.Handshakes, verification)
	if err != nil {
		return scheme.Scheme{}, err
	}
	if err := scheme.Validate(described); err != nil {
		field := "hmac"
		if verification.Scheme != v1alpha1.SchemeHMAC {
			field = "scheme"
		}
		return scheme.Scheme{}, fmt.Errorf("spec.verification.%s: %w", field, err)
	}
	return described, nil
}

func presetOrDescribed(verification *v1alpha1.Verification) (scheme.Scheme, error) {
	if verification.Scheme == v1alpha1.SchemeHMAC {
		if verification.HMAC == nil {
			return scheme.Scheme{}, errors.New("spec.verification.hmac: describe the scheme, or name a preset in scheme")
		}
		return describe(verification.HMAC)
	}
	preset, ok := scheme.Preset(string(verification.Scheme))
	if !ok {
		return scheme.Scheme{}, fmt.Errorf("spec.verification.scheme: %q is no preset; use HMAC and describe it", verification.Scheme)
	}
	return preset, nil
}

// handshakes adds to those of a scheme what the endpoint says of them: a token for the scheme's own HubChallenge, or for one
// that HMAC gets by it, and origins, which turn OriginConsent on.
func handshakes(own []scheme.Handshake, verification *v1alpha1.Verification) ([]scheme.Handshake, error) {
	options := verification.Handshake
	if options == nil {
		options = &v1alpha1.HandshakeOptions{}
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
		return nil, fmt.Errorf("spec.verification.handshake.verifyToken: scheme %s asks with it; set it to what you enter there",
			verification.Scheme)
	case !asked && options.VerifyToken != "" && verification.Scheme != v1alpha1.SchemeHMAC:
		return nil, fmt.Errorf("spec.verification.handshake.verifyToken: scheme %s does not ask with it; remove it", verification.Scheme)
	case !asked && options.VerifyToken != "":
		out = append(out, scheme.Handshake{Kind: scheme.HubChallenge, VerifyToken: options.VerifyToken})
	}
	if len(options.Origins) > 0 {
		origins := make([]string, len(options.Origins))
		for i, origin := range options.Origins {
			origins[i] = string(origin)
		}
		out = append(out, scheme.Handshake{Kind: scheme.OriginConsent, Origins: origins})
	}
	return out, nil
}

func describe(hmac *v1alpha1.HMACScheme) (scheme.Scheme, error) {
	out := scheme.Scheme{
		Name: scheme.HMAC,
		Signature: scheme.Signature{
			Header:    string(hmac.Signature.Header),
			Path:      path(hmac.Signature.Path),
			Separator: hmac.Signature.Separator,
			Prefix:    hmac.Signature.Prefix,
			Encoding:  scheme.Encoding(hmac.Signature.Encoding),
			Algorithm: scheme.Algorithm(hmac.Signature.Algorithm),
		},
		StringToSign:   hmac.StringToSign,
		Key:            key(&hmac.Key),
		EventID:        eventID(&hmac.EventID),
		EventType:      value(hmac.EventType),
		ResourceID:     value(hmac.ResourceID),
		FormField:      hmac.FormField,
		FormObject:     hmac.Forms == v1alpha1.FormsObject,
		Acknowledgment: hmac.Acknowledgment,
		Behavior:       scheme.Behavior{BodyChanges: hmac.BodyBetweenAttempts == v1alpha1.BodyChanges},
	}
	if out.Signature.Algorithm == scheme.Token && out.StringToSign == scheme.PlaceholderBody {
		// What the API server fills in, and what a Token has none of.
		out.StringToSign, out.Signature.Encoding = "", ""
	}
	for _, other := range hmac.HeaderAliases {
		if out.HeaderAliases == nil {
			out.HeaderAliases = map[string]string{}
		}
		out.HeaderAliases[string(other.Header)] = string(other.Alias)
	}
	if at := hmac.Timestamp; at != nil {
		out.Timestamp = &scheme.Timestamp{Header: string(at.Header), Prefix: string(at.Prefix), Unit: scheme.Unit(at.Unit)}
	}
	if hmac.Batch != nil {
		out.Batch = &scheme.Batch{Path: path(hmac.Batch.Path), Member: hmac.Batch.Member}
	}
	for _, name := range hmac.Handshakes {
		out.Handshakes = append(out.Handshakes, scheme.Handshake{Kind: scheme.HandshakeKind(name)})
	}
	horizon, err := hmac.RetryHorizon.Parse()
	if err != nil {
		return scheme.Scheme{}, fmt.Errorf("spec.verification.hmac.retryHorizon: %w", err)
	}
	if hmac.RetryHorizon != "" && horizon < time.Second {
		return scheme.Scheme{}, fmt.Errorf("spec.verification.hmac.retryHorizon: it is %v, and must be at least 1s", horizon)
	}
	out.Behavior.RetryHorizon = horizon
	out = out.WithDefaults()
	out.EventIDSigned = out.CoversID()
	if hmac.EventIDSigned != nil {
		out.EventIDSigned = *hmac.EventIDSigned
	}
	return out, nil
}

func key(in *v1alpha1.HMACKey) scheme.Key {
	out := scheme.Key{Encoding: scheme.Encoding(in.Encoding), Prefix: in.Prefix}
	if in.MinBytes != nil {
		out.MinBytes = int(*in.MinBytes)
	}
	if in.MaxBytes != nil {
		out.MaxBytes = int(*in.MaxBytes)
	}
	return out
}

func path(text v1alpha1.BodyPath) []string {
	if text == "" {
		return nil
	}
	return strings.Split(string(text), ".")
}

func eventID(at *v1alpha1.HMACEventID) []scheme.Source {
	var out []scheme.Source
	switch {
	case at.Header != "":
		out = append(out, scheme.Source{Header: string(at.Header)})
	case at.Path != "":
		out = append(out, scheme.Source{Path: path(at.Path)})
	case len(at.Compose) > 0:
		out = append(out, scheme.Source{Compose: sources(at.Compose)})
	}
	out = append(out, sources(at.Otherwise)...)
	switch at.Made {
	case v1alpha1.MadeBodyDigest:
		out = append(out, scheme.Source{BodyDigest: true})
	case v1alpha1.MadePerRequest:
		out = append(out, scheme.Source{PerRequest: true})
	}
	return out
}

func value(at *v1alpha1.HMACValue) []scheme.Source {
	if at == nil {
		return nil
	}
	first := scheme.Source{Header: string(at.Header), Path: path(at.Path)}
	return append([]scheme.Source{first}, sources(at.Otherwise)...)
}

func sources(list []v1alpha1.HeaderOrPath) []scheme.Source {
	var out []scheme.Source
	for _, at := range list {
		out = append(out, scheme.Source{Header: string(at.Header), Path: path(at.Path)})
	}
	return out
}
