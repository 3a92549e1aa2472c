// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/hookonce/hookonce/api/v1alpha1"
	v1alpha1ac "github.com/hookonce/hookonce/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

const (
	// conventionalKey is left out of the names of rotations.
	conventionalKey = "secret"
	// nameDigits is how much of a hash goes into a name that had to change.
	nameDigits = 8
	// nameLimit is that of a Kubernetes name, in bytes.
	nameLimit = 253
	// longestOverlap is that of the API.
	longestOverlap = 7 * 24 * time.Hour
)

// request is a SecretRotation as the command line asks for it.
type request struct {
	endpoint  string
	namespace string
	// name of the SecretRotation; empty for the one that the endpoint and the Secret give it.
	name string
	// secret is the Secret with the new secret. Its key may be empty until it is known from the endpoint.
	secret v1alpha1.SecretKeyReference
	// overlap, retire and maxOverlap are empty where nothing is to be said of them.
	overlap    v1alpha1.Duration
	retire     v1alpha1.Retire
	maxOverlap v1alpha1.Duration
	// previousNotAfter is that of a rotation that is there already.
	previousNotAfter *metav1.Time
	// revoke asks for revocation: Immediate.
	revoke bool
	// reason is what people wrote to each other about it.
	reason string
}

// parseSecret reads NAME[/KEY].
func parseSecret(text string) (v1alpha1.SecretKeyReference, error) {
	const shape = "write it as NAME or NAME/KEY, such as paymos-2026-q4/secret"
	name, key, withKey := strings.Cut(text, "/")
	var problems []string
	switch {
	case text == "":
		return v1alpha1.SecretKeyReference{}, usagef("--secret is missing: name the Secret that holds the new secret")
	case withKey && key == "":
		problems = []string{"there is no key behind the slash"}
	case withKey:
		problems = validation.IsConfigMapKey(key)
	}
	problems = append(validation.IsDNS1123Subdomain(name), problems...)
	if len(problems) > 0 {
		return v1alpha1.SecretKeyReference{}, usagef("--secret %q: %s: %s", text, problems[0], shape)
	}
	return v1alpha1.SecretKeyReference{Name: name, Key: key}, nil
}

// durationShape is what the API admits.
var durationShape = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)

// parseOverlap checks the text of a flag with a duration from 0s to 168h.
func parseOverlap(flag, text string) (time.Duration, error) {
	parsed, err := v1alpha1.Duration(text).Parse()
	if err != nil || !durationShape.MatchString(text) {
		return 0, usagef("--%s %q: write it as a number with a unit, such as 24h or 90m", flag, text)
	}
	if parsed > longestOverlap {
		return 0, usagef("--%s %s: the longest is 168h (seven days)", flag, text)
	}
	return parsed, nil
}

// check says which part of a request cannot be written down.
func (r *request) check() error {
	if problems := validation.IsDNS1123Subdomain(r.endpoint); len(problems) > 0 {
		return usagef("ENDPOINT %q: %s", r.endpoint, problems[0])
	}
	if problems := validation.IsDNS1123Subdomain(r.name); r.name != "" && len(problems) > 0 {
		return usagef("--name %q: %s", r.name, problems[0])
	}
	if problems := validation.IsDNS1123Label(r.namespace); r.namespace != "" && len(problems) > 0 {
		return usagef("--namespace %q: %s", r.namespace, problems[0])
	}
	return nil
}

// rotationName is the name of the SecretRotation: it says what changes and to what, and the same command gives the same
// name. The key is in it unless it is the conventional one, and the endpoint once.
func (r *request) rotationName() string {
	if r.name != "" {
		return r.name
	}
	stem := r.secret.Name
	if stem != r.endpoint && !strings.HasPrefix(stem, r.endpoint+"-") {
		stem = r.endpoint + "-" + stem
	}
	if r.secret.Key != conventionalKey {
		stem += "-" + r.secret.Key
	}
	name := inName.ReplaceAllString(strings.ToLower(stem), "-")
	if name == stem && len(name) <= nameLimit && len(validation.IsDNS1123Subdomain(name)) == 0 {
		return name
	}
	sum := sha256.Sum256([]byte(stem))
	hash := hex.EncodeToString(sum[:])[:nameDigits]
	name = strings.ReplaceAll(name[:min(len(name), nameLimit-1-nameDigits)], ".", "-")
	return strings.TrimRight(name, "-") + "-" + hash
}

// inName are runs of what a name may not have inside.
var inName = regexp.MustCompile(`[^-.a-z0-9]+`)

// manifest is the SecretRotation that is asked for, with nothing in it that the API would fill in.
func (r *request) manifest() *v1alpha1ac.SecretRotationApplyConfiguration {
	spec := v1alpha1ac.SecretRotationSpec().
		WithEndpointRef(v1alpha1ac.EndpointReference().WithName(r.endpoint)).
		WithSecretRef(v1alpha1ac.SecretKeyReference().WithName(r.secret.Name).WithKey(r.secret.Key))
	if r.overlap != "" {
		spec.WithOverlap(r.overlap)
	}
	if r.retire != "" {
		spec.WithRetire(r.retire)
	}
	if r.maxOverlap != "" {
		spec.WithMaxOverlap(r.maxOverlap)
	}
	if r.previousNotAfter != nil {
		spec.WithPreviousNotAfter(*r.previousNotAfter)
	}
	if r.revoke {
		spec.WithRevocation(v1alpha1.RevocationImmediate)
	}
	made := v1alpha1ac.SecretRotation(r.rotationName(), r.namespace).WithSpec(spec)
	if r.namespace == "" {
		made.Namespace = nil
	}
	if r.reason != "" {
		made.WithAnnotations(map[string]string{v1alpha1.AnnotationReason: r.reason})
	}
	return made
}

// encode writes a manifest as YAML, in an order that does not change.
func encode(manifest runtime.ApplyConfiguration) ([]byte, error) {
	document, err := yaml.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return document, nil
}
