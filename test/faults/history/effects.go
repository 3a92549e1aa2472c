// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import "slices"

// booking is an effect of one event; guard is one of a resource.
type booking struct {
	effect string
	// of is a name or a content.
	of any
}

type guard struct{ effect, resource, eventType string }

func (c *checker) checkEffects() {
	perEvent, perResource := map[booking]int{}, map[guard]int{}
	for i := range c.h.Effects {
		f := &c.h.Effects[i]
		c.checkEffect(f)
		want, _ := c.h.Expect(f.Endpoint, f.Body)
		switch {
		case slices.Contains(want.Guarded, f.Name):
			key := guard{f.Name, f.Resource, f.Type}
			if perResource[key]++; perResource[key] == 2 {
				c.violate(DoubleEffect, f.Endpoint, f.EventID, "%s is booked twice for the resource %s and the type %s",
					f.Name, f.Resource, f.Type)
			}
		case slices.Contains(want.Effects, f.Name):
			key := c.bookingOf(f)
			if perEvent[key]++; perEvent[key] == 2 {
				c.violate(DoubleEffect, f.Endpoint, f.EventID, "%s is booked twice", f.Name)
			}
		default:
			c.violate(UnclaimedEffect, f.Endpoint, f.EventID, "%s is not for events of the type %s", f.Name, f.Type)
		}
	}
	c.checkMissing(perEvent, perResource)
}

// bookingOf names what is booked once: for an id, or for a body where ids prove nothing.
func (c *checker) bookingOf(f *Effect) booking {
	if c.bodyClaimed(f.Endpoint) {
		return booking{f.Name, content{f.Endpoint, f.Body}}
	}
	return booking{f.Name, name{f.Endpoint, f.EventID}}
}

// checkEffect checks an effect against its event.
func (c *checker) checkEffect(f *Effect) {
	e := c.events[f.Event]
	if e == nil || c.claims[f.Event] == nil {
		c.violate(UnclaimedEffect, f.Endpoint, f.EventID, "%s is booked by the event %s, which is not claimed", f.Name, f.Event)
		return
	}
	if e.EventID != f.EventID || e.Body != f.Body || e.Type != f.Type || e.Resource != f.Resource || e.Endpoint != f.Endpoint {
		c.violate(ForeignEffect, f.Endpoint, f.EventID, "%s was booked from something else than its event", f.Name)
	}
	if want, sent := c.h.Expect(e.Endpoint, e.Body); sent && want.Refused {
		c.violate(UnclaimedEffect, f.Endpoint, f.EventID, "%s is booked, and its event was refused", f.Name)
	}
}

func (c *checker) checkMissing(perEvent map[booking]int, perResource map[guard]int) {
	for i := range c.h.Events {
		e := &c.h.Events[i]
		want, sent := c.h.Expect(e.Endpoint, e.Body)
		if !sent || want.Refused {
			continue
		}
		for _, effect := range want.Effects {
			if perEvent[c.bookingOf(&Effect{Name: effect, Endpoint: e.Endpoint, EventID: e.EventID, Body: e.Body})] == 0 {
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
