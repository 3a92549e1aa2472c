// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/render"
)

var update = flag.Bool("update", false, "rewrite testdata/*/out.yaml")

var settings = render.Settings{Image: "registry.example.com/hookonce:v1", OperatorNamespace: "hookonce-system"}

// TestGolden compares everything that is rendered for testdata/<case>/in.yaml with out.yaml beside it. A new folder is a
// new case; go test ./internal/render -update rewrites the files, and the review shows what changed.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join("testdata", "*", "in.yaml"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, in := range cases {
		folder := filepath.Dir(in)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			got := renderAll(t, in)
			golden := filepath.Join(folder, "out.yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("rendered objects changed (-want +got); if that is meant, run the test with -update:\n%s", diff)
			}
			if again := renderAll(t, in); !bytes.Equal(got, again) {
				t.Error("the same endpoint was rendered in two ways")
			}
		})
	}
}

// load reads an endpoint.
func load(t *testing.T, file string) *v1alpha1.WebhookEndpoint {
	t.Helper()
	endpoint := &v1alpha1.WebhookEndpoint{}
	if err := yaml.UnmarshalStrict(read(t, file), endpoint); err != nil {
		t.Fatal(err)
	}
	return endpoint
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func renderAll(t *testing.T, file string) []byte {
	t.Helper()
	endpoint := load(t, file)
	config, err := render.Config(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	document, err := config.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receiverconfig.Parse(document); err != nil {
		t.Errorf("a receiver would refuse the document: %v", err)
	}
	var out bytes.Buffer
	for _, child := range render.Children(endpoint, document, settings) {
		encoded, err := yaml.Marshal(child)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(encoded)
	}
	return out.Bytes()
}

// TestWhatRestartsReceivers changes one field after the other and says whether the pod template may change with it.
func TestWhatRestartsReceivers(t *testing.T) {
	template := func(edit func(*v1alpha1.WebhookEndpoint), settings render.Settings) string {
		endpoint := load(t, filepath.Join("testdata", "everything", "in.yaml"))
		edit(endpoint)
		encoded, err := yaml.Marshal(render.Deployment(endpoint, settings).Spec.Template)
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	before := template(func(*v1alpha1.WebhookEndpoint) {}, settings)
	for name, test := range map[string]struct {
		edit     func(*v1alpha1.WebhookEndpoint)
		restarts bool
	}{
		"Scheme":       {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Verification.Scheme = v1alpha1.SchemeGitHub }, false},
		"Tolerance":    {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Verification.Tolerance = "2m" }, false},
		"Effects":      {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Effects = nil }, false},
		"Destinations": {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Destinations = slices.Delete(e.Spec.Destinations, 1, 2) }, false},
		"Signing":      {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Destinations[0].SigningSecretRef.Name = "other" }, true},
		"Credentials": {func(e *v1alpha1.WebhookEndpoint) {
			e.Spec.Destinations[2].NATS.CredentialsSecretRef.Name = "other"
		}, true},
		"Path":        {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Exposure.Path = "/other" }, false},
		"PublicURL":   {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Exposure.URL = "https://hooks.example.com/in" }, false},
		"Host":        {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Exposure.Host = "hooks.example.com" }, false},
		"Retention":   {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Retention.Claims = "2000h" }, false},
		"Replicas":    {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Receiver.Replicas = new(int32) }, false},
		"Labels":      {func(e *v1alpha1.WebhookEndpoint) { e.Labels = map[string]string{"a": "b"} }, false},
		"DatabaseRef": {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Database.SecretRef.Name = "other" }, true},
		"SecretRef":   {func(e *v1alpha1.WebhookEndpoint) { e.Spec.Verification.SecretRef.Name = "other" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			if restarts := template(test.edit, settings) != before; restarts != test.restarts {
				t.Errorf("receivers restart: %t, want %t", restarts, test.restarts)
			}
		})
	}
	narrowed := settings
	narrowed.DestinationNetworks = []string{"10.96.0.0/16", "10.88.0.0/16"}
	if after := template(func(*v1alpha1.WebhookEndpoint) {}, narrowed); !strings.Contains(after, "--destination-networks=10.96.0.0/16,10.88.0.0/16") {
		t.Errorf("receivers are not told of the networks that destinations may be in: %s", after)
	}
	if template(func(*v1alpha1.WebhookEndpoint) {}, render.Settings{Image: "other"}) == before {
		t.Error("another image does not restart the receivers")
	}
}

func TestLabelsOfTheEndpointAreNotCopied(t *testing.T) {
	if out := renderAll(t, filepath.Join("testdata", "everything", "in.yaml")); strings.Contains(string(out), "fluxcd") {
		t.Error("a label of the endpoint was copied: who put it there would prune the object")
	}
}

func TestConfigNamesTheField(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*v1alpha1.WebhookEndpointSpec)
		want string
	}{
		"Preset":   {func(s *v1alpha1.WebhookEndpointSpec) { s.Verification.Scheme = "Nobody" }, "spec.verification.scheme"},
		"HMAC":     {func(s *v1alpha1.WebhookEndpointSpec) { s.Verification.Scheme = v1alpha1.SchemeHMAC }, "spec.verification.hmac"},
		"Duration": {func(s *v1alpha1.WebhookEndpointSpec) { s.Destinations[0].Timeout = "soon" }, "destinations[fulfilment].timeout"},
		"Horizon": {func(s *v1alpha1.WebhookEndpointSpec) {
			s.Verification.Scheme = v1alpha1.SchemeHMAC
			s.Verification.HMAC = &v1alpha1.HMACScheme{RetryHorizon: "soon"}
		}, "spec.verification.hmac.retryHorizon"},
		"PublicURL": {func(s *v1alpha1.WebhookEndpointSpec) { s.Exposure.URL = "https://a.example.com/?b=c" }, "publicURL"},
		"NoURL":     {func(s *v1alpha1.WebhookEndpointSpec) { s.Verification.Scheme = v1alpha1.SchemeSquare }, "spec.exposure.url"},
		"Schema":    {func(s *v1alpha1.WebhookEndpointSpec) { s.Database.Schema = "A b" }, "schema"},
	} {
		t.Run(name, func(t *testing.T) {
			endpoint := load(t, filepath.Join("testdata", "everything", "in.yaml"))
			test.edit(&endpoint.Spec)
			if _, err := render.Config(endpoint); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error does not name %s: %v", test.want, err)
			}
		})
	}
}

func TestEventIDSigned(t *testing.T) {
	endpoint := load(t, filepath.Join("testdata", "hmac", "in.yaml"))
	hmac := endpoint.Spec.Verification.HMAC
	signed := func() bool {
		t.Helper()
		described, err := render.Scheme(&endpoint.Spec.Verification)
		if err != nil {
			t.Fatal(err)
		}
		return described.EventIDSigned
	}
	if signed() {
		t.Error("an id in a header that is not signed counts as signed")
	}
	hmac.StringToSign = "{id}.{timestamp}.{body}"
	if !signed() {
		t.Error("{id} in stringToSign does not count as signed")
	}
	hmac.EventIDSigned = new(bool)
	if signed() {
		t.Error("eventIDSigned: false is not respected")
	}
	hmac.EventIDSigned, hmac.StringToSign = nil, "{timestamp}.{body}"
	hmac.EventID = v1alpha1.HMACEventID{Path: "id"}
	if !signed() {
		t.Error("an id in the body does not count as signed")
	}
}
