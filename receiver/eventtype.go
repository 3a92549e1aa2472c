// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiver

import (
	"slices"
	"strings"
)

// MatchesType says whether one of the patterns is for the event type: the type itself, a prefix and .* for all types that
// continue the prefix after a dot, or * for every type and for events without one.
func MatchesType(patterns []string, eventType string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return prefix == "" || strings.HasPrefix(eventType, prefix) && len(eventType) > len(prefix)
		}
		return pattern == eventType
	})
}
