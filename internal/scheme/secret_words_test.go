// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"errors"
	"strings"
	"testing"
)

// TestSecretsAreDamagedInTheRightWords: the _ of a prefix is not taken for one of URL-safe base64, nor is a text that decodes
// refused since it begins like a prefix.
func TestSecretsAreDamagedInTheRightWords(t *testing.T) {
	encoded := standardSecret[6:]
	plainKey, wordKey := base64Key, base64Key
	plainKey.Prefix, wordKey.Prefix = "", "key"
	for name, test := range map[string]struct {
		key                  Key
		secret, reason, want string
	}{
		"quotes":          {base64Key, `"` + standardSecret + `"`, SecretUndecodable, "has quotes around it"},
		"single quotes":   {base64Key, "'" + encoded + "'", SecretUndecodable, "has quotes around it"},
		"quotes behind":   {base64Key, `whsec_"` + encoded + `"`, SecretUndecodable, "has quotes around it"},
		"hexadecimal":     {hexKey, `"` + strings.Repeat("0a", 16) + `"`, SecretUndecodable, "has quotes around it"},
		"prefix twice":    {base64Key, "whsec_" + standardSecret, SecretWrongPrefix, `begins with "whsec_" twice`},
		"capitals":        {base64Key, "WHSEC_" + encoded, SecretWrongPrefix, "prefix is in capitals"},
		"mixed":           {base64Key, "Whsec_" + encoded, SecretWrongPrefix, "prefix is in capitals"},
		"no prefix known": {plainKey, standardSecret, SecretWrongPrefix, "the scheme has no prefix"},
		"URL-safe":        {base64Key, "whsec_-_8=", SecretUndecodable, "has - or _"},
		"begins alike":    {wordKey, "KEY" + strings.Repeat("A", 29), "", ""},
	} {
		_, err := test.key.Decode([]byte(test.secret))
		problem, _ := errors.AsType[*SecretProblem](err)
		switch {
		case test.reason == "":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case problem == nil || problem.Reason != test.reason || !strings.Contains(problem.Message, test.want):
			t.Errorf("%s: got %v, want %s: %s", name, err, test.reason, test.want)
		case strings.Contains(problem.Message, encoded):
			t.Errorf("%s: the message has the secret: %s", name, problem.Message)
		}
	}
}
