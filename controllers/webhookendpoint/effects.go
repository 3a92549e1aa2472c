// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// failingEffects says which effects fail in some receiver, or nothing. It has no counts: they change with every delivery.
func (p *pass) failingEffects() string {
	var failing []receiverstatus.Effect
	for _, receiver := range p.receivers.Answered() {
		for _, effect := range receiver.Status.Effects {
			if p.asksFor(effect) {
				failing = append(failing, effect)
			}
		}
	}
	if len(failing) == 0 {
		return ""
	}
	slices.SortFunc(failing, func(a, b receiverstatus.Effect) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Code, b.Code))
	})
	// One failure of each effect is enough to act upon.
	failing = slices.CompactFunc(failing, func(a, b receiverstatus.Effect) bool { return a.Name == b.Name })
	clauses := make([]string, 0, len(failing))
	for _, effect := range failing {
		clauses = append(clauses, fmt.Sprintf("function %s fails with SQLSTATE %s", effect.Function, sqlstate(effect.Code)))
	}
	if len(failing) == 1 {
		return fmt.Sprintf("Effect %q: %s; its events are answered with 503 and the provider retries them", failing[0].Name, clauses[0])
	}
	for i := range clauses {
		clauses[i] = fmt.Sprintf("%q: %s", failing[i].Name, clauses[i])
	}
	return fmt.Sprintf("Effects %s; their events are answered with 503 and the provider retries them", strings.Join(clauses, "; "))
}

// asksFor says whether the spec still has an effect as a receiver knows it: one that was corrected fails no more.
func (p *pass) asksFor(effect receiverstatus.Effect) bool {
	return slices.ContainsFunc(p.endpoint.Spec.Effects, func(asked v1alpha1.Effect) bool {
		return asked.Name == effect.Name && asked.Function == effect.Function
	})
}

// sqlstate is a code, with words if it is a common one.
func sqlstate(code string) string {
	words := sqlstates[code]
	if words == "" && strings.HasPrefix(code, "23") {
		words = "constraint violation"
	}
	code = short(code)
	if words == "" {
		return code
	}
	return fmt.Sprintf("%s (%s)", code, words)
}

// sqlstates are the words for the codes that people meet.
var sqlstates = map[string]string{
	"42883": "undefined function",
	"42P01": "undefined table",
	"42501": "insufficient privilege",
	"55P03": "lock not available",
	"57014": "canceled by the statement timeout",
}
