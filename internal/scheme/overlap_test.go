// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
)

func TestLeastOverlap(t *testing.T) {
	for name, test := range map[string]struct {
		behavior scheme.Behavior
		want     time.Duration
	}{
		"Both":         {scheme.Behavior{Rotation: scheme.RotationBoth, RetryHorizon: 72 * time.Hour}, 0},
		"Immediate":    {scheme.Behavior{Rotation: scheme.RotationImmediate, RetryHorizon: 72 * time.Hour}, 0},
		"Lagging":      {scheme.Behavior{Rotation: scheme.RotationLagging, RetryHorizon: 72 * time.Hour}, time.Hour},
		"OldKeepOld":   {scheme.Behavior{Rotation: scheme.RotationOldEventsKeepOld, RetryHorizon: 72 * time.Hour}, 72 * time.Hour},
		"OldForLong":   {scheme.Behavior{Rotation: scheme.RotationOldEventsKeepOld, RetryHorizon: 720 * time.Hour}, 168 * time.Hour},
		"NothingKnown": {scheme.Behavior{RetryHorizon: 72 * time.Hour}, 0},
	} {
		got, reason := test.behavior.LeastOverlap()
		if got != test.want || (reason != "") != (got > 0) {
			t.Errorf("%s: %v because %q, want %v", name, got, reason, test.want)
		}
	}
}

// TestLaggingPresets are those that the rule of verification.overlap names.
func TestLaggingPresets(t *testing.T) {
	var lagging []string
	for _, name := range scheme.Names() {
		preset, _ := scheme.Preset(name)
		if least, _ := preset.Behavior.LeastOverlap(); least > 0 {
			lagging = append(lagging, name)
		}
	}
	if len(lagging) != 2 || lagging[0] != "Adyen" || lagging[1] != "Shopify" {
		t.Errorf("got %v; the rule at verification.overlap says Adyen and Shopify", lagging)
	}
}
