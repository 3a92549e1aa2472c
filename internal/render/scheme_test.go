// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/scheme"
)

func TestBodies(t *testing.T) {
	hmac := load(t, filepath.Join("testdata", "hmac", "in.yaml")).Spec.Verification
	for name, test := range map[string]struct {
		edit            func(*v1alpha1.Verification)
		reused, changes bool
	}{
		"Absent":    {func(v *v1alpha1.Verification) { v.BodyReuse, v.HMAC.BodyBetweenAttempts = "", "" }, false, false},
		"Spelled":   {func(v *v1alpha1.Verification) { v.BodyReuse, v.HMAC.BodyBetweenAttempts = "Duplicate", "Same" }, false, false},
		"NewEvent":  {func(v *v1alpha1.Verification) { v.HMAC.BodyBetweenAttempts = "" }, true, false},
		"Changes":   {func(v *v1alpha1.Verification) { v.BodyReuse = "" }, false, true},
		"Preset":    {func(v *v1alpha1.Verification) { v.Scheme, v.HMAC = v1alpha1.SchemeGitHub, nil }, true, false},
		"PresetNot": {func(v *v1alpha1.Verification) { v.Scheme, v.HMAC, v.BodyReuse = v1alpha1.SchemeGitHub, nil, "" }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			verification := hmac.DeepCopy()
			test.edit(verification)
			described, err := render.Scheme(verification)
			if err != nil {
				t.Fatal(err)
			}
			if described.BodyReuse != test.reused || described.Behavior.BodyChanges != test.changes {
				t.Errorf("reused %t, changes %t, want %t and %t",
					described.BodyReuse, described.Behavior.BodyChanges, test.reused, test.changes)
			}
		})
	}
}

// TestShortestClaims compares what is added to a provider's retries with what the schema allows: the longest overlap, and
// timestamps that are ahead of a clock or behind it by the longest tolerance.
func TestShortestClaims(t *testing.T) {
	crd := read(t, filepath.Join("..", "..", "config", "crd", "bases", "webhooks.hookonce.dev_webhookendpoints.yaml"))
	longest := func(pattern string) time.Duration {
		t.Helper()
		found := regexp.MustCompile(pattern).FindSubmatch(crd)
		if found == nil {
			t.Fatalf("the schema has nothing like %s", pattern)
		}
		limit, err := time.ParseDuration(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		return limit
	}
	rest := longest(`overlap must be from 0s to (\w+)`) + 2*longest(`tolerance must be from 1s to (\w+)`)
	if got := receiverconfig.LeastClaims(scheme.Scheme{}); got != rest {
		t.Errorf("%v are added to a provider's retries, the schema allows %v", got, rest)
	}
}

// TestClaims lets claims be kept for what the scheme needs if nothing is said, and never for less.
func TestClaims(t *testing.T) {
	for name, test := range map[string]struct {
		scheme v1alpha1.SchemeName
		claims v1alpha1.Duration
		want   time.Duration
	}{
		"Default":       {v1alpha1.SchemePaymos, "", 720 * time.Hour},
		"LongDefault":   {v1alpha1.SchemeAdyen, "", 890 * time.Hour},
		"Said":          {v1alpha1.SchemePaymos, "200h", 200 * time.Hour},
		"Least":         {v1alpha1.SchemePaymos, "186h3m", 186*time.Hour + 3*time.Minute},
		"TooShort":      {v1alpha1.SchemePaymos, "186h2m", 0},
		"TooShortAdyen": {v1alpha1.SchemeAdyen, "720h", 0},
	} {
		t.Run(name, func(t *testing.T) {
			endpoint := load(t, filepath.Join("testdata", "minimal", "in.yaml"))
			endpoint.Spec.Verification.Scheme, endpoint.Spec.Retention.Claims = test.scheme, test.claims
			config, err := render.Config(endpoint)
			if test.want == 0 {
				if err == nil || !strings.Contains(err.Error(), "retention.claims is "+string(test.claims)) {
					t.Errorf("got %v, want an error that names retention.claims", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := time.Duration(config.Retention.Claims); got != test.want {
				t.Errorf("claims are kept for %v, want %v", got, test.want)
			}
		})
	}
}

func TestPublicURL(t *testing.T) {
	for name, test := range map[string]struct {
		exposure v1alpha1.Exposure
		want     string
	}{
		"Unknown":     {v1alpha1.Exposure{Path: "/in"}, ""},
		"Host":        {v1alpha1.Exposure{Host: "hooks.example.com"}, "https://hooks.example.com/webhooks/payments"},
		"HostAndPath": {v1alpha1.Exposure{Host: "hooks.example.com", Path: "/in/"}, "https://hooks.example.com/in/"},
		"URL":         {v1alpha1.Exposure{URL: "http://Hooks.example.com:8080"}, "http://Hooks.example.com:8080"},
		"URLWins":     {v1alpha1.Exposure{Host: "a.example.com", Path: "/in", URL: "https://b.example.com/x"}, "https://b.example.com/x"},
	} {
		t.Run(name, func(t *testing.T) {
			endpoint := load(t, filepath.Join("testdata", "minimal", "in.yaml"))
			endpoint.Name, endpoint.Spec.Exposure = "payments", test.exposure
			config, err := render.Config(endpoint)
			if err != nil {
				t.Fatal(err)
			}
			if got := render.PublicURL(endpoint); got != test.want || config.PublicURL != test.want {
				t.Errorf("%q and in the configuration %q, want %q", got, config.PublicURL, test.want)
			}
		})
	}
}

func TestHandshakes(t *testing.T) {
	options := func(token string, origins ...v1alpha1.Origin) *v1alpha1.HandshakeOptions {
		return &v1alpha1.HandshakeOptions{VerifyToken: token, Origins: origins}
	}
	for name, test := range map[string]struct {
		scheme    v1alpha1.SchemeName
		handshake *v1alpha1.HandshakeOptions
		want      []scheme.Handshake
		refused   string
	}{
		"None":          {v1alpha1.SchemePaymos, nil, nil, ""},
		"Own":           {v1alpha1.SchemeSlack, nil, []scheme.Handshake{{Kind: scheme.URLVerification}}, ""},
		"Meta":          {v1alpha1.SchemeMeta, options("hello"), []scheme.Handshake{{Kind: scheme.HubChallenge, VerifyToken: "hello"}}, ""},
		"MetaNoToken":   {v1alpha1.SchemeMeta, nil, nil, "handshake.verifyToken"},
		"TokenUnasked":  {v1alpha1.SchemePaymos, options("hello"), nil, "handshake.verifyToken"},
		"Origins":       {v1alpha1.SchemePaymos, options("", "a.example.com"), []scheme.Handshake{{Kind: scheme.OriginConsent, Origins: []string{"a.example.com"}}}, ""},
		"OwnAndOrigins": {v1alpha1.SchemeDropbox, options("", "*"), []scheme.Handshake{{Kind: scheme.EchoChallenge}, {Kind: scheme.OriginConsent, Origins: []string{"*"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := render.Scheme(&v1alpha1.Verification{Scheme: test.scheme, Handshake: test.handshake})
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("got %v, want an error that names %s", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Handshakes); diff != "" {
				t.Errorf("handshakes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOnlyReadinessAsksTheDatabase keeps the kubelet from restarting receivers that wait for Postgres.
func TestOnlyReadinessAsksTheDatabase(t *testing.T) {
	endpoint := load(t, filepath.Join("testdata", "minimal", "in.yaml"))
	pod := render.Deployment(endpoint, settings).Spec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	receiver := pod.Containers[0]
	for what, path := range map[string]*string{
		"startup": receiver.StartupProbe.HTTPGet.Path, "liveness": receiver.LivenessProbe.HTTPGet.Path,
	} {
		if *path != "/livez" {
			t.Errorf("the %s probe asks %s: its failure restarts the container", what, *path)
		}
	}
	if got := *receiver.ReadinessProbe.HTTPGet.Path; got != "/readyz" {
		t.Errorf("the readiness probe asks %s", got)
	}
}
