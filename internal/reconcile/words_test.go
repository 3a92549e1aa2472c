// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile_test

import (
	"testing"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/rotation"
	"github.com/hookonce/hookonce/internal/scheme"
)

// TestOneWordForOneFact compares the reasons that the API lists with those of the packages that find the faults, which
// cannot import each other.
func TestOneWordForOneFact(t *testing.T) {
	for listed, found := range map[string]string{
		v1alpha1.ReasonSecretEmpty:       scheme.SecretEmpty,
		v1alpha1.ReasonSecretTooShort:    scheme.SecretTooShort,
		v1alpha1.ReasonSecretTooLong:     scheme.SecretTooLong,
		v1alpha1.ReasonSecretUndecodable: scheme.SecretUndecodable,
		v1alpha1.ReasonSecretWhitespace:  scheme.SecretWhitespace,
		v1alpha1.ReasonSecretWrongPrefix: scheme.SecretWrongPrefix,
		v1alpha1.ReasonSecretMasked:      scheme.SecretMasked,
		v1alpha1.ReasonSecretRevoked:     rotation.SecretRevoked,
		v1alpha1.ReasonKeyringLost:       rotation.KeyringLost,
	} {
		if listed != found {
			t.Errorf("one fact has two words: %s and %s", listed, found)
		}
	}
}
