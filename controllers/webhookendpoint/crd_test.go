// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// mostBytes is how large a CRD may be as JSON. kubectl apply keeps a copy of it in an annotation, and annotations have at
// most 262144 bytes together.
const mostBytes = 200_000

func TestDefinitionsAreSmall(t *testing.T) {
	for file, crd := range definitions(t) {
		encoded, err := json.Marshal(crd)
		if err != nil {
			t.Fatal(err)
		}
		if len(encoded) >= mostBytes {
			t.Errorf("%s has %d bytes: kubectl apply could not keep it in an annotation", file, len(encoded))
		}
	}
}

// TestEveryFieldIsExplained refuses a field that kubectl explain would say nothing of.
func TestEveryFieldIsExplained(t *testing.T) {
	// What the API server itself explains.
	standard := []string{".apiVersion", ".kind", ".metadata"}
	fields := 0
	walkSchemas(t, func(file string, field fieldSchema) {
		fields++
		if slices.Contains(standard, field.path) {
			return
		}
		switch text := field.schema.Description; {
		case text == "":
			t.Errorf("%s: %s has no description", file, field.path)
		case !strings.HasSuffix(text, "."):
			t.Errorf("%s: the description of %s does not end as a sentence: %q", file, field.path, text)
		}
	})
	if fields < 150 {
		t.Errorf("only %d fields were found", fields)
	}
}

// fieldSchema is a field of a kind, by its path: .spec.verification.scheme.
type fieldSchema struct {
	path   string
	schema *apiextensionsv1.JSONSchemaProps
}

// walkSchemas visits every field of the project's kinds.
func walkSchemas(t *testing.T, visit func(file string, field fieldSchema)) {
	t.Helper()
	for file, crd := range definitions(t) {
		var walk func(path string, schema *apiextensionsv1.JSONSchemaProps)
		walk = func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			for name, property := range schema.Properties {
				visit(file, fieldSchema{path + "." + name, &property})
				walk(path+"."+name, &property)
			}
			if schema.Items != nil && schema.Items.Schema != nil {
				walk(path+"[]", schema.Items.Schema)
			}
			if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
				walk(path+"{}", schema.AdditionalProperties.Schema)
			}
		}
		for i := range crd.Spec.Versions {
			walk("", crd.Spec.Versions[i].Schema.OpenAPIV3Schema)
		}
	}
}

// definitions are the project's CRDs by the files that they are in.
func definitions(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	out := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(content, crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[filepath.Base(file)] = crd
	}
	return out
}
