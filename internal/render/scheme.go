// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"fmt"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/manifest"
	"github.com/hookonce/hookonce/internal/scheme"
)

// Scheme returns the scheme of a preset's name, or the one that is described field by field, with what the endpoint adds
// to either. The error names the field of the spec that cannot be used. The translation is that of the manifest as it is
// written, which the receiver's commands read too: a field that it does not know is refused, and so cannot be forgotten.
func Scheme(verification *v1alpha1.Verification) (scheme.Scheme, error) {
	written, err := json.Marshal(verification)
	if err != nil {
		return scheme.Scheme{}, fmt.Errorf("spec.verification: %w", err)
	}
	return manifest.Scheme(written)
}
