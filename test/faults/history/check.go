// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"
)

// Check judges a history. It goes over everything once; there is no sampling.
func Check(h *History) *Report {
	c := &checker{
		h: h, report: &Report{Count: map[Kind]int{}},
		events: make(map[uuid.UUID]*Event, len(h.Events)), claims: make(map[uuid.UUID]*Claim, len(h.Claims)),
		keys: make(map[uuid.UUID]int, len(h.Claims)), byID: make(map[name]*Event, len(h.Events)), byBody: map[content]*Event{},
	}
	c.indexLedger()
	c.checkEvents()
	c.checkAnswers()
	c.checkEffects()
	c.checkDeliveries()
	c.checkBooked()
	c.checkCounters()
	return c.report
}

// name is an event by its id, and content by its body.
type name struct {
	endpoint int
	id       string
}

type content struct {
	endpoint int
	body     Digest
}

type checker struct {
	h      *History
	report *Report
	events map[uuid.UUID]*Event
	claims map[uuid.UUID]*Claim
	// keys counts the claims of an event: one for its id, and one for its body where that is claimed.
	keys   map[uuid.UUID]int
	byID   map[name]*Event
	byBody map[content]*Event
}

func (c *checker) violate(kind Kind, endpoint int, subject, format string, args ...any) {
	where := ""
	if endpoint >= 0 && endpoint < len(c.h.Endpoints) {
		where = c.h.Endpoints[endpoint].Name
	}
	c.report.add(Violation{Kind: kind, Endpoint: where, Subject: subject, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) bodyClaimed(endpoint int) bool { return c.h.Endpoints[endpoint].BodyClaimed }

func (c *checker) keysOf(endpoint int) int {
	if c.bodyClaimed(endpoint) {
		return 2
	}
	return 1
}

// indexLedger finds events that are there twice on its way.
func (c *checker) indexLedger() {
	for i := range c.h.Events {
		e := &c.h.Events[i]
		c.events[e.ID] = e
		key := name{e.Endpoint, e.EventID}
		if other := c.byID[key]; other != nil {
			c.violate(DoubleClaim, e.Endpoint, e.EventID, "the id is there as events %s and %s", other.ID, e.ID)
		}
		c.byID[key] = e
		if !c.bodyClaimed(e.Endpoint) {
			continue
		}
		body := content{e.Endpoint, e.Body}
		if other := c.byBody[body]; other != nil {
			c.violate(DoubleClaim, e.Endpoint, e.EventID, "the body is there as events %s and %s", other.EventID, e.EventID)
		}
		c.byBody[body] = e
	}
	for i := range c.h.Claims {
		claim := &c.h.Claims[i]
		c.claims[claim.Event] = claim
		c.keys[claim.Event]++
	}
}

// checkEvents compares events with their claims, and with what was sent.
func (c *checker) checkEvents() {
	for i := range c.h.Events {
		e := &c.h.Events[i]
		claim := c.claims[e.ID]
		switch {
		case claim == nil:
			c.violate(PartialEvent, e.Endpoint, e.EventID, "the event %s has no claim", e.ID)
		case claim.Body != e.Body:
			c.violate(PartialEvent, e.Endpoint, e.EventID, "the claim has another digest than the body")
		case c.keys[e.ID] != c.keysOf(e.Endpoint):
			c.violate(PartialEvent, e.Endpoint, e.EventID, "%d keys are claimed, want %d", c.keys[e.ID], c.keysOf(e.Endpoint))
		}
		want, sent := c.h.Expect(e.Endpoint, e.Body)
		switch {
		case !sent:
			c.violate(WrongEvent, e.Endpoint, e.EventID, "nobody sent a body with the digest %x", e.Body[:4])
		case want.Type != e.Type || want.Resource != e.Resource:
			c.violate(WrongEvent, e.Endpoint, e.EventID, "type %q and resource %q, sent were %q and %q",
				e.Type, e.Resource, want.Type, want.Resource)
		}
	}
	for id, claim := range c.claims {
		if c.events[id] == nil {
			c.violate(PartialEvent, claim.Endpoint, id.String(), "the claim has no event")
		}
	}
}

// answers are what the senders of one event were told.
type answers struct {
	first        string
	status       int
	acknowledged bool
}

func (c *checker) checkAnswers() {
	told := map[any]*answers{}
	for i := range c.h.Attempts {
		a := &c.h.Attempts[i]
		key := c.identity(a)
		t := told[key]
		if t == nil {
			t = &answers{}
			told[key] = t
		}
		c.checkAttempt(a, t)
	}
	for key, t := range told {
		if t.acknowledged {
			c.report.Acknowledged++
			continue
		}
		c.report.Unacknowledged++
		if c.known(key) {
			c.report.Whole++
		}
	}
}

// identity is what must have one answer: the id, and the body where ids prove nothing.
func (c *checker) identity(a *Attempt) any {
	if c.bodyClaimed(a.Endpoint) {
		return content{a.Endpoint, a.Body}
	}
	return name{a.Endpoint, a.EventID}
}

func (c *checker) known(key any) bool {
	switch key := key.(type) {
	case content:
		return c.byBody[key] != nil
	case name:
		return c.byID[key] != nil
	}
	return false
}

func (c *checker) checkAttempt(a *Attempt, told *answers) {
	switch {
	case a.Status == 0 || a.Status == http.StatusRequestTimeout || a.Status == http.StatusServiceUnavailable && a.RetryAfter:
		// The sender was told to try again, or nothing.
	case a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices:
		c.checkAcknowledged(a, told)
	case a.Status == http.StatusUnprocessableEntity:
		if e := c.byID[name{a.Endpoint, a.EventID}]; e == nil || e.Body == a.Body {
			c.violate(FalseConflict, a.Endpoint, a.EventID, "answered %d, and no other body is claimed under the id", a.Status)
		}
	default:
		c.violate(WrongStatus, a.Endpoint, a.EventID, "a signed delivery was answered %d %s", a.Status, a.Answer)
	}
}

func (c *checker) checkAcknowledged(a *Attempt, told *answers) {
	switch {
	case !told.acknowledged:
		told.acknowledged, told.first, told.status = true, a.Answer, a.Status
	case told.first != a.Answer || told.status != a.Status:
		c.violate(DifferingAnswers, a.Endpoint, a.EventID, "%d %s and %d %s", told.status, told.first, a.Status, a.Answer)
	}
	e := c.byID[name{a.Endpoint, a.EventID}]
	if e != nil && e.Body != a.Body {
		c.violate(ConflictAccepted, a.Endpoint, a.EventID, "%d for a body that is not the claimed one", a.Status)
		return
	}
	if e == nil && c.bodyClaimed(a.Endpoint) {
		e = c.byBody[content{a.Endpoint, a.Body}]
	}
	if e == nil {
		c.violate(Lost, a.Endpoint, a.EventID, "acknowledged with %d %s", a.Status, a.Answer)
		return
	}
	claim := c.claims[e.ID]
	if claim == nil {
		return
	}
	if stored, ok := storedAnswer(claim, e); ok && (stored != a.Answer || claim.Status != a.Status) {
		c.violate(WrongAnswer, a.Endpoint, a.EventID, "%d %s, stored is %d %s", a.Status, a.Answer, claim.Status, stored)
	}
}

// storedAnswer is what the ledger has; without a stored result it follows from the id.
func storedAnswer(claim *Claim, e *Event) (string, bool) {
	if claim.HasResult {
		return claim.Result, true
	}
	id, err := json.Marshal(e.EventID)
	return `{"event":` + string(id) + `}`, err == nil
}
