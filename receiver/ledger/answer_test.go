// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"testing"

	"github.com/hookonce/hookonce/receiver/ledger"
)

// The one is stored by events that take one round trip, the other by those that are recorded step by step.
func TestAnAnswerIsTheSameHoweverItIsMade(t *testing.T) {
	texts := []string{"evt_1", "", "null", `a"b`, `a\b`, "a<b>&c", "a\tb", "\u00fc", "\u2028", "a\x7fb", "a\xffb"}
	for _, id := range texts {
		for _, name := range texts {
			around, whole, err := ledger.AnswerOfOne(id, name, `{"a":null}`)
			if err != nil || around != whole {
				t.Errorf("%q, %q: %v\naround %s\nwhole  %s", id, name, err, around, whole)
			}
		}
	}
}
