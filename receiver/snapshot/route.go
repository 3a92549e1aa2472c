// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
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
		if receiver.MatchesType(effect.EventTypes, event.Type) {
			work.Effects = append(work.Effects, receiver.Effect{
				Name: effect.Name, Function: effect.Function,
				OncePerResource: effect.Key == receiverconfig.KeyResourceAndType,
			})
		}
	}
	for _, destination := range s.Config.Destinations {
		if receiver.MatchesType(destination.EventTypes, event.Type) {
			work.Destinations = append(work.Destinations, destination.Name)
			if destination.Ordering == receiverconfig.OrderingPerResource {
				work.Ordered = append(work.Ordered, destination.Name)
			}
		}
	}
	return work
}
