// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import "slices"

// booking is an effect of one event; guard is one of a resource.
type booking struct {
	effect string
	event  name
}

type guard struct{ effect, resource, eventType string }

func (c *checker) checkEffects() {
	perEvent, perResource := map[booking]int{}, map[guard]int{}
	for i := range c.h.Effects {
		f := &c.h.Effects[i]
		want, ok := c.effectOf(f)
		switch {
		case !ok:
		case slices.Contains(want.Guarded, f.Name):
			key := guard{f.Name, f.Resource, f.Type}
			if perResource[key]++; perResource[key] == 2 {
				c.violate(DoubleEffect, f.Endpoint, f.EventID, "%s is booked twice for the resource %s and the type %s",
					f.Name, f.Resource, f.Type)
			}
		case slices.Contains(want.Effects, f.Name):
			key := booking{f.Name, name{f.Endpoint, f.EventID}}
			if perEvent[key]++; perEvent[key] == 2 {
				c.violate(DoubleEffect, f.Endpoint, f.EventID, "%s is booked twice", f.Name)
			}
		default:
			c.violate(UnclaimedEffect, f.Endpoint, f.EventID, "%s is not for events of the type %s", f.Name, f.Type)
		}
	}
	c.checkMissing(perEvent, perResource)
}

// effectOf checks an effect against its event, and returns what the event may have.
func (c *checker) effectOf(f *Effect) (Expected, bool) {
	e := c.events[f.Event]
	if e == nil || c.claims[f.Event] == nil {
		c.violate(UnclaimedEffect, f.Endpoint, f.EventID, "%s is booked by the event %s, which is not claimed", f.Name, f.Event)
		return Expected{}, false
	}
	if e.EventID != f.EventID || e.Body != f.Body || e.Type != f.Type || e.Resource != f.Resource || e.Endpoint != f.Endpoint {
		c.violate(ForeignEffect, f.Endpoint, f.EventID, "%s was booked from something else than its event", f.Name)
	}
	want, sent := c.h.Expect(e.Endpoint, e.Body)
	if sent && want.Refused {
		c.violate(UnclaimedEffect, f.Endpoint, f.EventID, "%s is booked, and its event was refused", f.Name)
		return Expected{}, false
	}
	return want, sent
}

func (c *checker) checkMissing(perEvent map[booking]int, perResource map[guard]int) {
	for i := range c.h.Events {
		e := &c.h.Events[i]
		want, sent := c.h.Expect(e.Endpoint, e.Body)
		if !sent || want.Refused {
			continue
		}
		for _, effect := range want.Effects {
			if perEvent[booking{effect, name{e.Endpoint, e.EventID}}] == 0 {
				c.violate(MissingEffect, e.Endpoint, e.EventID, "%s is not booked", effect)
			}
		}
		for _, effect := range want.Guarded {
			if perResource[guard{effect, e.Resource, e.Type}] == 0 {
				c.violate(MissingEffect, e.Endpoint, e.EventID, "%s is not booked for the resource %s", effect, e.Resource)
			}
		}
	}
}
