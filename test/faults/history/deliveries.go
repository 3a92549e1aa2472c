// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"github.com/google/uuid"
)

// outgoing is one event's delivery to one destination.
type outgoing struct {
	event       name
	destination string
}

func (c *checker) checkDeliveries() {
	waiting := map[outgoing]bool{}
	for i := range c.h.Deliveries {
		c.checkUnfinished(&c.h.Deliveries[i], waiting)
	}
	arrived, keys := map[outgoing]*Arrival{}, map[string]outgoing{}
	for i := range c.h.Arrivals {
		a := &c.h.Arrivals[i]
		to := outgoing{name{a.Endpoint, a.EventID}, a.Destination}
		if other, taken := keys[a.Key]; taken && other != to {
			c.violate(ManyKeys, a.Endpoint, a.EventID, "the key %s is also that of %s to %s", a.Key, other.event.id, other.destination)
		}
		keys[a.Key] = to
		if other := arrived[to]; other != nil && other.Key != a.Key {
			c.violate(ManyKeys, a.Endpoint, a.EventID, "%s got it under the keys %s and %s", a.Destination, other.Key, a.Key)
		}
		if other := arrived[to]; other == nil || a.Accepted {
			arrived[to] = a
		}
		c.checkArrival(a)
	}
	c.checkAllDelivered(waiting, arrived)
}

func (c *checker) checkUnfinished(d *Delivery, waiting map[outgoing]bool) {
	e := c.events[d.Event]
	if e == nil {
		c.violate(WrongDelivery, -1, d.ID.String(), "the outbox has it for %s, and its event %s is not there", d.Destination, d.Event)
		return
	}
	waiting[outgoing{name{e.Endpoint, e.EventID}, d.Destination}] = true
	state := "pending"
	if d.Failed {
		state = "failed"
	}
	c.violate(DeliveryStuck, e.Endpoint, e.EventID, "the delivery to %s is %s", d.Destination, state)
}

// checkArrival compares what arrived with what its event brings.
func (c *checker) checkArrival(a *Arrival) {
	e := c.byID[name{a.Endpoint, a.EventID}]
	if e == nil {
		c.violate(WrongDelivery, a.Endpoint, a.EventID, "%s got an event that is not claimed", a.Destination)
		return
	}
	want, _ := c.h.Expect(e.Endpoint, e.Body)
	if want.Refused {
		c.violate(WrongDelivery, a.Endpoint, a.EventID, "%s got an event that was refused", a.Destination)
		return
	}
	for _, d := range want.Deliveries {
		if d.Destination != a.Destination {
			continue
		}
		if d.Body != a.Body {
			c.violate(WrongDelivery, a.Endpoint, a.EventID, "%s got another body", a.Destination)
		}
		if d.Key != "" && d.Key != a.Key {
			c.violate(WrongDelivery, a.Endpoint, a.EventID, "%s got the key %s, want %s", a.Destination, a.Key, d.Key)
		}
		return
	}
	c.violate(WrongDelivery, a.Endpoint, a.EventID, "%s is not among its destinations", a.Destination)
}

func (c *checker) checkAllDelivered(waiting map[outgoing]bool, arrived map[outgoing]*Arrival) {
	for i := range c.h.Events {
		e := &c.h.Events[i]
		want, sent := c.h.Expect(e.Endpoint, e.Body)
		if !sent || want.Refused {
			continue
		}
		for _, d := range want.Deliveries {
			to := outgoing{name{e.Endpoint, e.EventID}, d.Destination}
			if a := arrived[to]; !waiting[to] && (a == nil || !a.Accepted) {
				c.violate(DeliveryLost, e.Endpoint, e.EventID, "%s never accepted it, and the outbox does not have it", d.Destination)
			}
		}
	}
}

// checkBooked finds late writers: the attempts of a delivery are numbered by what was booked before, so two with one
// number are of two leases, and the second to be booked had lost its own.
func (c *checker) checkBooked() {
	type number struct {
		delivery uuid.UUID
		n        int
	}
	seen := make(map[number]bool, len(c.h.Booked))
	for _, b := range c.h.Booked {
		key := number{b.Delivery, b.Number}
		if seen[key] {
			c.violate(LateWriter, -1, b.Delivery.String(), "the attempt number %d is booked twice", b.Number)
		}
		seen[key] = true
	}
}

// checkCounters: what a kill takes with it was never written, and what is unknown to have been written is written again;
// so, unless nothing happened, only the size can be judged.
func (c *checker) checkCounters() {
	if c.h.Counters == nil {
		return
	}
	attempts, told := make([]int64, len(c.h.Endpoints)), make([]int64, len(c.h.Endpoints))
	events := make([]int64, len(c.h.Endpoints))
	for i := range c.h.Attempts {
		a := &c.h.Attempts[i]
		attempts[a.Endpoint]++
		if a.Status/100 == 2 {
			told[a.Endpoint]++
		}
	}
	for i := range c.h.Events {
		events[c.h.Events[i].Endpoint]++
	}
	for i, n := range c.h.Counters {
		accepted := n.Processed + n.Refused
		if c.h.CountersExact {
			if accepted != events[i] || accepted+n.Duplicates != told[i] {
				c.violate(WrongCounters, i, "exact", "%+v, and there are %d events and %d acknowledgments", n, events[i], told[i])
			}
			continue
		}
		const slack = 20 // percent
		most := func(of int64) int64 { return of + of*slack/100 + 100 }
		if accepted > most(events[i]) || accepted+n.Duplicates > most(attempts[i]) || n.Received > most(attempts[i]) {
			c.violate(WrongCounters, i, "too many", "%+v, and there are %d events and %d attempts", n, events[i], attempts[i])
		}
		if 2*(accepted+n.Duplicates)+100 < told[i] {
			c.violate(WrongCounters, i, "too few", "%+v, and there are %d acknowledgments", n, told[i])
		}
	}
}
