// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"encoding/base64"
	"strings"
	"testing"
)

const secret = `canary/secret+1&n="2"<é>`

func TestEveryFormIsFound(t *testing.T) {
	for form, text := range forms(secret) {
		if found := Find([]Place{{"somewhere", "before " + text + " after"}}, []string{secret}); len(found) == 0 {
			t.Errorf("%s is not found", form)
		}
	}
}

func TestBase64InsideOfSomethingLongerIsFound(t *testing.T) {
	for shift := range 9 {
		once := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift%3) + secret + "behind"))
		twice := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift/3) + once + "behind"))
		for _, text := range []string{once, twice} {
			if found := Find([]Place{{"somewhere", text}}, []string{secret}); len(found) == 0 {
				t.Errorf("not found in %s", text)
			}
		}
	}
}

func TestNothingIsFoundInOtherText(t *testing.T) {
	if found := Find([]Place{{"somewhere", "canary/secret+2"}}, []string{secret}); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

func TestEmptyPlaceIsAFinding(t *testing.T) {
	if found := Find([]Place{{"somewhere", ""}}, nil); len(found) != 1 {
		t.Errorf("found %v, want one finding", found)
	}
}
