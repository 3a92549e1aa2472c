// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/rotation"
)

func TestLastUse(t *testing.T) {
	noon := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	never := time.Time{}
	for name, test := range map[string]struct{ shown, used, want time.Time }{
		"Never":            {never, never, never},
		"First":            {never, ago(90 * time.Second), ago(90 * time.Second)},
		"Forgotten":        {ago(time.Hour), never, ago(time.Hour)},
		"GoesNotBack":      {ago(time.Minute), ago(time.Hour), ago(time.Minute)},
		"InUse":            {ago(4 * time.Minute), noon, ago(4 * time.Minute)},
		"InUseForLonger":   {ago(5 * time.Minute), noon, noon},
		"NoLongerInUse":    {ago(8 * time.Minute), ago(6 * time.Minute), ago(6 * time.Minute)},
		"LastOfABurst":     {ago(6 * time.Minute), ago(5*time.Minute + 30*time.Second), ago(5*time.Minute + 30*time.Second)},
		"ToTheSecondAlone": {never, ago(1200 * time.Millisecond), ago(2 * time.Second)},
		"SameSecond":       {ago(6 * time.Minute), ago(6*time.Minute - 500*time.Millisecond), ago(6 * time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			receivers := []rotation.Receiver{
				{LastUsed: map[string]time.Time{"a": test.used, "b": noon}},
				{LastUsed: map[string]time.Time{"a": test.used.Add(-time.Hour)}},
				{},
			}
			if got := rotation.LastUse(noon, test.shown, "a", receivers); !got.Equal(test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
