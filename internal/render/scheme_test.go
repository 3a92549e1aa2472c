// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
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

// TestShortestClaims compares the least retention.claims that the schema allows with what a claim has to outlive: the
// provider's retries, the longest overlap, and clocks that differ by as much as the longest tolerance.
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
	least := longest(`retention\.claims must be at least (\w+)`)
	rest := longest(`overlap must be from 0s to (\w+)`) + longest(`tolerance must be from 1s to (\w+)`)
	for _, name := range append(scheme.Names(), scheme.HMAC) {
		horizon := scheme.DefaultRetryHorizon
		if preset, ok := scheme.Preset(name); ok {
			horizon = preset.Behavior.RetryHorizon
		}
		if need := horizon + rest; least < need {
			t.Errorf("%s: claims may be kept for %v only, an event may come again for %v", name, least, need)
		}
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
