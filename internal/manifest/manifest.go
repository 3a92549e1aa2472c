// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads, of a WebhookEndpoint as people write it, what decides whether a delivery verifies, and turns it
// into a scheme. It knows the document and not Kubernetes, so that the receiver's commands can read what the operator reads,
// and both get the same scheme from it: this is the only translation.
package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
)

// What is expected of a document.
const (
	Group      = "webhooks.hookonce.dev"
	APIVersion = Group + "/v1alpha1"
	Kind       = "WebhookEndpoint"
)

// DefaultTolerance is the tolerance of an endpoint that says nothing of it.
const DefaultTolerance = 5 * time.Minute

// DefaultMaxBodyBytes is the size of the largest body that an endpoint reads which says nothing of it: 1 MiB.
const DefaultMaxBodyBytes = 1 << 20

// DefaultSchema is the schema of the ledger of an endpoint that names none.
const DefaultSchema = "hookonce"

// pathPrefix is before the name of an endpoint in the path of one that names no path.
const pathPrefix = "/webhooks/"

// MaxBytes bounds what is read: the limit of an object in the API server.
const MaxBytes = 3 << 20

// Endpoint is what decides whether a delivery verifies.
type Endpoint struct {
	// Name is namespace/name, or the name alone.
	Name   string
	Scheme scheme.Scheme
	// Tolerance is how far a signed timestamp may be from now.
	Tolerance time.Duration
	// Schema of the ledger's tables.
	Schema string
	// Path that the receivers serve, and the URL that the provider is given; empty if it is not known.
	Path, PublicURL string
	// MaxBodyBytes is the size of the largest body that is read.
	MaxBodyBytes int64
}

// Parse reads the one WebhookEndpoint among the documents of a YAML or JSON text, or a rendered config.json. The error names
// the field that is unknown or cannot be used; if there are several endpoints, it names them.
func Parse(text []byte) (*Endpoint, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the manifest has %d bytes, more than %d", len(text), MaxBytes)
	}
	documents, err := split(text)
	if err != nil {
		return nil, err
	}
	if len(documents) == 1 && documents[0].Kind == "" && documents[0].members["scheme"] != nil {
		return fromConfig(text)
	}
	var found []*document
	var others []string
	for _, d := range documents {
		if d.Kind == Kind {
			found = append(found, d)
		} else {
			others = append(others, fmt.Sprintf("%q", d.Kind))
		}
	}
	switch {
	case len(found) == 0 && len(others) == 0:
		return nil, errors.New("the manifest is empty")
	case len(found) == 0:
		return nil, fmt.Errorf("kind: there is no %s, only %s", Kind, strings.Join(others, ", "))
	case len(found) > 1:
		names := make([]string, len(found))
		for i, d := range found {
			names[i] = d.name()
		}
		return nil, fmt.Errorf("there are %d kinds %s: %s; give one of them", len(found), Kind, strings.Join(names, ", "))
	}
	return found[0].endpoint()
}

func fromConfig(text []byte) (*Endpoint, error) {
	config, err := receiverconfig.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read it as a receiver's %s: %w", receiverconfig.FileName, err)
	}
	return &Endpoint{
		Name: config.Endpoint, Scheme: config.Scheme, Tolerance: time.Duration(config.Tolerance),
		Schema: config.Schema, Path: config.Path, PublicURL: config.PublicURL, MaxBodyBytes: config.MaxBodyBytes,
	}, nil
}

// document is one of the text's.
type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	// members of the whole, and text that holds them.
	members map[string]any
	text    []byte
}

// split reads the documents of a text; empty ones are left out, and the items of a List are documents.
func split(text []byte) ([]*document, error) {
	var out []*document
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for n := 1; ; n++ {
		var members map[string]any
		err := decoder.Decode(&members)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d is no YAML object: %w", n, err)
		}
		items, isList := members["items"].([]any)
		if kind, _ := members["kind"].(string); !isList || kind != "List" {
			items = []any{members}
		}
		for _, item := range items {
			inner, ok := item.(map[string]any)
			if !ok || len(inner) == 0 {
				continue
			}
			d, err := newDocument(inner)
			if err != nil {
				return nil, fmt.Errorf("document %d: %w", n, err)
			}
			out = append(out, d)
		}
	}
}

func newDocument(members map[string]any) (*document, error) {
	text, err := json.Marshal(members)
	if err != nil {
		return nil, fmt.Errorf("it cannot be written as JSON: %w", err)
	}
	d := &document{members: members, text: text}
	if err := decode(text, d); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *document) name() string {
	if d.Metadata.Namespace == "" {
		return d.Metadata.Name
	}
	return d.Metadata.Namespace + "/" + d.Metadata.Name
}

func (d *document) endpoint() (*Endpoint, error) {
	if d.APIVersion != APIVersion {
		return nil, fmt.Errorf("apiVersion: %q is not %s", d.APIVersion, APIVersion)
	}
	var whole struct {
		Spec Spec `json:"spec"`
	}
	if err := refuseUnknown("spec", d.members["spec"], whole.Spec); err != nil {
		return nil, err
	}
	if err := decode(d.text, &whole); err != nil {
		return nil, err
	}
	spec := &whole.Spec
	described, err := spec.Verification.Scheme()
	if err != nil {
		return nil, err
	}
	tolerance, err := spec.Verification.Tolerance.or(DefaultTolerance)
	if err != nil {
		return nil, fmt.Errorf("spec.verification.tolerance: %w", err)
	}
	path := spec.Exposure.PathOf(d.Metadata.Name)
	return &Endpoint{
		Name: d.name(), Scheme: described, Tolerance: tolerance, Schema: cmp.Or(spec.Database.Schema, DefaultSchema),
		Path: path, PublicURL: spec.Exposure.PublicURL(path), MaxBodyBytes: cmp.Or(spec.Limits.MaxBodyBytes, DefaultMaxBodyBytes),
	}, nil
}

// kinds are what JSON calls Go's.
var kinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Struct: "an object", reflect.Map: "an object", reflect.Slice: "an array", reflect.Bool: "a boolean",
	reflect.Int: "a number", reflect.Int32: "a number", reflect.Int64: "a number",
}

// decode names the whole path of a field that has a value of the wrong kind.
func decode(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: it is a JSON %s and should be %s", wrong.Field, wrong.Value, kinds[wrong.Type.Kind()])
	}
	if err != nil {
		return fmt.Errorf("decode the manifest: %w", err)
	}
	return nil
}
