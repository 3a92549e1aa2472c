// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/manifest"
	"github.com/hookonce/hookonce/internal/render"
)

// TestFieldsAreThoseOfTheAPI: a field that the API gets, loses or renames is missed here until it is translated.
func TestFieldsAreThoseOfTheAPI(t *testing.T) {
	compare(t, "spec", reflect.TypeFor[v1alpha1.WebhookEndpointSpec](), reflect.TypeFor[manifest.Spec]())
}

func compare(t *testing.T, path string, api, ours reflect.Type) {
	t.Helper()
	if ours == reflect.TypeFor[json.RawMessage]() {
		return
	}
	for api.Kind() == reflect.Pointer {
		api = api.Elem()
	}
	for ours.Kind() == reflect.Pointer {
		ours = ours.Elem()
	}
	if api.Kind() != ours.Kind() {
		t.Errorf("%s is %s in the API, and %s here", path, api.Kind(), ours.Kind())
		return
	}
	if api.Kind() == reflect.Slice {
		compare(t, path+"[]", api.Elem(), ours.Elem())
		return
	}
	if api.Kind() != reflect.Struct {
		return
	}
	theirs, own := members(api), members(ours)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(theirs)), slices.Sorted(maps.Keys(own))); diff != "" {
		t.Errorf("fields of %s (-API +here):\n%s", path, diff)
	}
	for name, of := range theirs {
		if own[name] != nil {
			compare(t, path+"."+name, of, own[name])
		}
	}
}

func members(of reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		out[name] = field.Type
	}
	return out
}

// TestOperatorAndCommandsAgree: what the operator tells its receivers is what the receiver's commands judge by.
func TestOperatorAndCommandsAgree(t *testing.T) {
	files, err := filepath.Glob("../render/testdata/*/in.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var endpoint v1alpha1.WebhookEndpoint
			if err := yaml.UnmarshalStrict(text, &endpoint); err != nil {
				t.Fatal(err)
			}
			config, err := render.Config(&endpoint)
			if err != nil {
				t.Fatal(err)
			}
			got, err := manifest.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			want := &manifest.Endpoint{
				Name: got.Name, Scheme: config.Scheme, Tolerance: time.Duration(config.Tolerance), Schema: config.Schema, Path: config.Path, PublicURL: config.PublicURL,
				MaxBodyBytes: config.MaxBodyBytes,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-operator +commands:\n%s", diff)
			}
		})
	}
}
