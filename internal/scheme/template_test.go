// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStringToSign(t *testing.T) {
	got, err := ParseStringToSign("v0:{timestamp}{body}.{item.a.b...}")
	want := []Part{
		{Literal: "v0:"},
		{Placeholder: PlaceholderTimestamp},
		{Placeholder: PlaceholderBody},
		{Literal: "."},
		{Placeholder: PlaceholderItem, Path: []string{"a", "b"}, Free: true},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"{", "}", "{}", "{body", "body}", "{Body}", "{ body }", "{item}", "{item.}", "{item....}", "{item.a..}", "{{body}}"} {
		if got, err := ParseStringToSign(text); err == nil {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

// FuzzStringToSign: what is accepted is written back as it was, and no scheme makes Validate panic.
func FuzzStringToSign(f *testing.F) {
	for _, s := range presets {
		f.Add(s.StringToSign)
	}
	f.Add("{url}{id}:{body}|{item.a...}")
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := ParseStringToSign(text)
		for _, s := range presets {
			s.StringToSign = text
			if Validate(s) == nil && err != nil {
				t.Fatalf("%s accepts %q: %v", s.Name, text, err)
			}
		}
		if err != nil {
			return
		}
		var again strings.Builder
		for _, part := range parts {
			again.WriteString(part.String())
		}
		if again.String() != text {
			t.Fatalf("%q was read as %q", text, again.String())
		}
	})
}
