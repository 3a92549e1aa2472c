// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/scheme"
)

// ofPreset is a small endpoint with what its preset needs.
func ofPreset(preset scheme.Scheme) *v1alpha1.WebhookEndpoint {
	endpoint := paymos(strings.ToLower(preset.Name))
	endpoint.Spec.Verification.Scheme = v1alpha1.SchemeName(preset.Name)
	if preset.Signs(scheme.PlaceholderURL) {
		endpoint.Spec.Exposure.Host = "hooks.example.com"
	}
	if slices.ContainsFunc(preset.Handshakes, func(h scheme.Handshake) bool { return h.Kind == scheme.HubChallenge }) {
		endpoint.Spec.Verification.Handshake = &v1alpha1.HandshakeOptions{VerifyToken: "hello"}
	}
	return endpoint
}

// TestRulesKnowThePresets compares what the schema says of each preset with the table that receivers verify with.
func TestRulesKnowThePresets(t *testing.T) {
	admin := controlplane.Client(t, restConfig)
	namespace := controlplane.Namespace(t, admin, nil)
	for _, name := range scheme.Names() {
		preset, _ := scheme.Preset(name)
		admit := func(edit func(*v1alpha1.WebhookEndpointSpec)) error {
			endpoint := ofPreset(preset)
			endpoint.Namespace = namespace
			edit(&endpoint.Spec)
			return admin.Create(t.Context(), endpoint, client.DryRunAll)
		}
		least := receiverconfig.LeastClaims(preset)
		for what, test := range map[string]struct {
			edit  func(*v1alpha1.WebhookEndpointSpec)
			valid bool
		}{
			"Small":       {func(*v1alpha1.WebhookEndpointSpec) {}, true},
			"NoURL":       {func(s *v1alpha1.WebhookEndpointSpec) { s.Exposure.Host = "" }, !preset.Signs(scheme.PlaceholderURL)},
			"NoHandshake": {func(s *v1alpha1.WebhookEndpointSpec) { s.Verification.Handshake = nil }, ofPreset(preset).Spec.Verification.Handshake == nil},
			"BodyReuse":   {func(s *v1alpha1.WebhookEndpointSpec) { s.Verification.BodyReuse = v1alpha1.BodyReuseNewEvent }, !preset.EventIDSigned},
			"Resource": {func(s *v1alpha1.WebhookEndpointSpec) {
				s.Effects = []v1alpha1.Effect{{Name: "a", EventTypes: []v1alpha1.EventTypePattern{"*"}, Function: "a.b", Key: v1alpha1.EffectKeyResourceAndType}}
			}, len(preset.ResourceID) > 0},
			"LeastClaims": {func(s *v1alpha1.WebhookEndpointSpec) { s.Retention.Claims = v1alpha1.Duration(least.String()) }, true},
			"ShorterClaims": {func(s *v1alpha1.WebhookEndpointSpec) {
				s.Retention.Claims = v1alpha1.Duration((least - time.Second).String())
			}, false},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				err := admit(test.edit)
				if test.valid != (err == nil) || (err != nil && !apierrors.IsInvalid(err)) {
					t.Errorf("want valid: %t, got %v", test.valid, err)
				}
				horizon := strings.TrimSuffix(strings.TrimSuffix(preset.Behavior.RetryHorizon.String(), "0s"), "h0m")
				if what == "ShorterClaims" && err != nil && !strings.Contains(err.Error(), " for "+horizon) {
					t.Errorf("the refusal does not say the horizon %s: %v", horizon, err)
				}
			})
		}
	}
}

// TestSchemeNames compares the names that the schema allows with those of the presets.
func TestSchemeNames(t *testing.T) {
	var allowed []string
	walkSchemas(t, func(_ string, field fieldSchema) {
		if strings.HasSuffix(field.path, ".spec.verification.scheme") {
			for _, value := range field.schema.Enum {
				allowed = append(allowed, strings.Trim(string(value.Raw), `"`))
			}
		}
	})
	slices.Sort(allowed)
	want := slices.Sorted(slices.Values(append(scheme.Names(), scheme.HMAC)))
	if diff := cmp.Diff(want, allowed); diff != "" {
		t.Errorf("names (-presets +schema):\n%s", diff)
	}
}

// TestPresetsCanBeSpelledOut writes every preset field by field: what HMAC cannot say, a provider without a preset could not
// be received from.
func TestPresetsCanBeSpelledOut(t *testing.T) {
	admin := controlplane.Client(t, restConfig)
	namespace := controlplane.Namespace(t, admin, nil)
	for _, name := range scheme.Names() {
		t.Run(name, func(t *testing.T) {
			want, _ := scheme.Preset(name)
			endpoint := ofPreset(want)
			endpoint.Namespace = namespace
			preset, err := render.Scheme(&endpoint.Spec.Verification)
			if err != nil {
				t.Fatal(err)
			}
			endpoint.Spec.Verification.Scheme, endpoint.Spec.Verification.HMAC = v1alpha1.SchemeHMAC, spell(want)
			if err := admin.Create(t.Context(), endpoint, client.DryRunAll); err != nil {
				t.Fatal(err)
			}
			got, err := render.Scheme(&endpoint.Spec.Verification)
			if err != nil {
				t.Fatal(err)
			}
			// How the provider rotates is told to people; nothing is verified by it.
			preset.Name, preset.Behavior.Rotation = got.Name, got.Behavior.Rotation
			if diff := cmp.Diff(preset, got); diff != "" {
				t.Errorf("the preset and its description (-preset +described):\n%s", diff)
			}
		})
	}
}

// spell describes a scheme field by field.
func spell(s scheme.Scheme) *v1alpha1.HMACScheme {
	signed, least, most := s.EventIDSigned, int32(s.Key.MinBytes), int32(s.Key.MaxBytes)
	out := &v1alpha1.HMACScheme{
		Signature: v1alpha1.HMACSignature{
			Header: v1alpha1.HeaderName(s.Signature.Header), Path: dotted(s.Signature.Path), Separator: s.Signature.Separator,
			Prefix: s.Signature.Prefix, Encoding: string(s.Signature.Encoding), Algorithm: string(s.Signature.Algorithm),
		},
		StringToSign:  s.StringToSign,
		Key:           v1alpha1.HMACKey{Encoding: string(s.Key.Encoding), Prefix: s.Key.Prefix, MinBytes: &least, MaxBytes: &most},
		EventID:       spellID(s.EventID),
		EventIDSigned: &signed,
		EventType:     values(s.EventType),
		ResourceID:    values(s.ResourceID),
		FormField:     s.FormField, Acknowledgment: s.Acknowledgment,
		RetryHorizon: v1alpha1.Duration(s.Behavior.RetryHorizon.String()),
	}
	if s.Key.MaxBytes == 0 {
		out.Key.MaxBytes = nil
	}
	if s.Signature.Algorithm == scheme.Token {
		out.Signature.Encoding, out.StringToSign = "", ""
	}
	if s.Timestamp != nil {
		out.Timestamp = &v1alpha1.HMACTimestamp{
			Header: v1alpha1.HeaderName(s.Timestamp.Header), Prefix: v1alpha1.ElementPrefix(s.Timestamp.Prefix), Unit: string(s.Timestamp.Unit),
		}
	}
	for _, header := range slices.Sorted(maps.Keys(s.HeaderAliases)) {
		out.HeaderAliases = append(out.HeaderAliases, v1alpha1.HeaderAlias{
			Header: v1alpha1.HeaderName(header), Alias: v1alpha1.HeaderName(s.HeaderAliases[header]),
		})
	}
	if s.FormObject {
		out.Forms = v1alpha1.FormsObject
	}
	if s.Batch != nil {
		out.Batch = &v1alpha1.HMACBatch{Path: dotted(s.Batch.Path), Member: s.Batch.Member}
	}
	for _, handshake := range s.Handshakes {
		if handshake.Kind != scheme.HubChallenge {
			out.Handshakes = append(out.Handshakes, v1alpha1.HandshakeName(handshake.Kind))
		}
	}
	if s.Behavior.BodyChanges {
		out.BodyBetweenAttempts = v1alpha1.BodyChanges
	}
	return out
}

func spellID(sources []scheme.Source) v1alpha1.HMACEventID {
	var out v1alpha1.HMACEventID
	last := len(sources) - 1
	switch {
	case sources[last].BodyDigest:
		out.Made, sources = v1alpha1.MadeBodyDigest, sources[:last]
	case sources[last].PerRequest:
		out.Made, sources = v1alpha1.MadePerRequest, sources[:last]
	}
	if len(sources) > 0 {
		out.Header, out.Path = v1alpha1.HeaderName(sources[0].Header), dotted(sources[0].Path)
		out.Compose = places(sources[0].Compose)
		out.Otherwise = places(sources[1:])
	}
	return out
}

func dotted(path []string) v1alpha1.BodyPath { return v1alpha1.BodyPath(strings.Join(path, ".")) }

func places(sources []scheme.Source) []v1alpha1.HeaderOrPath {
	var out []v1alpha1.HeaderOrPath
	for _, source := range sources {
		out = append(out, v1alpha1.HeaderOrPath{Header: v1alpha1.HeaderName(source.Header), Path: dotted(source.Path)})
	}
	return out
}

func values(sources []scheme.Source) *v1alpha1.HMACValue {
	if len(sources) == 0 {
		return nil
	}
	all := places(sources)
	return &v1alpha1.HMACValue{Header: all[0].Header, Path: all[0].Path, Otherwise: all[1:]}
}
