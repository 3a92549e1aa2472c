// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"slices"
	"strings"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/receiver"
)

// Route says what the endpoint does for an event: the effects and destinations whose event types match, in the
// configuration's order. It may be nothing; the event is stored all the same.
func (s *Snapshot) Route(event receiver.Event) receiver.Work {
	var work receiver.Work
	if s.Config == nil {
		return work
	}
	for _, effect := range s.Config.Effects {
		if matches(effect.EventTypes, event.Type) {
			work.Effects = append(work.Effects, receiver.Effect{
				Name: effect.Name, Function: effect.Function,
				OncePerResource: effect.Key == receiverconfig.KeyResourceAndType,
			})
		}
	}
	for _, destination := range s.Config.Destinations {
		if matches(destination.EventTypes, event.Type) {
			work.Destinations = append(work.Destinations, destination.Name)
		}
	}
	return work
}

// matches says whether one of the patterns is for the event type: the type itself, a prefix and .* for all types that
// continue the prefix after a dot, or * for every type and for events without one.
func matches(patterns []string, eventType string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return prefix == "" || strings.HasPrefix(eventType, prefix) && len(eventType) > len(prefix)
		}
		return pattern == eventType
	})
}
