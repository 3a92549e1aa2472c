// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"container/heap"
	"math/rand/v2"
)

// Kind says why a delivery is sent.
type Kind int

// The kinds of sendings.
const (
	// First is an event's first delivery.
	First Kind = iota
	// Duplicate is the same body again, under the same id.
	Duplicate
	// Recast is the same body under another id, where ids are not signed.
	Recast
	// Conflict is another body under the same id.
	Conflict
)

// Sending is one delivery of the plan. Its retries are not of the plan: how many there are is up to the faults.
type Sending struct {
	Event int
	Kind  Kind
	// Node is the replica that it is sent to first.
	Node int
	// Impatient senders give up after one attempt, so that nobody learns what became of it.
	Impatient bool
	// ThenConflict says that another body follows under the same id as soon as this one has been acknowledged.
	ThenConflict bool
}

// Step is what is sent at the same time.
type Step []Sending

// Shares of events, in one of so many.
const (
	oneInDuplicate = 4  // with one duplicate: 20 % of all deliveries then are duplicates
	oneInConflict  = 50 // with a conflict
	oneInRace      = 400
	oneInImpatient = 40
)

// soonest and latest say how many steps later a duplicate comes that is not concurrent.
const (
	soonest = 20
	latest  = 3000
)

// Plan is a sequence of steps. It is not safe for concurrent use, but for its methods Event and Conflicting.
type Plan struct {
	seed   uint64
	nodes  int
	left   int
	events int
	step   int
	random *rand.Rand
	later  laterQueue

	counts Counts
}

// Counts are what the plan has handed out so far.
type Counts struct{ Deliveries, Events, Concurrent, Later, Conflicts int }

// New plans so many deliveries, duplicates included and conflicts not, to so many replicas.
func New(seed uint64, deliveries, nodes int) *Plan {
	return &Plan{seed: seed, nodes: nodes, left: deliveries, random: repeatable(seed, 1)}
}

// Counts are what has been handed out.
func (p *Plan) Counts() Counts { return p.counts }

// Next is the next step; false if there is none.
func (p *Plan) Next() (Step, bool) {
	if p.left <= 0 {
		return nil, false
	}
	p.step++
	if p.later.Len() > 0 && (p.later[0].due <= p.step || p.left <= p.later.Len()) {
		due := p.pop()
		p.left--
		p.counts.Deliveries++
		p.counts.Later++
		return Step{due}, true
	}
	return p.fresh(), true
}

// fresh is a new event, alone or with what is sent beside it.
func (p *Plan) fresh() Step {
	n := p.events
	p.events++
	first := Sending{Event: n, Kind: First, Node: p.random.IntN(p.nodes), Impatient: p.random.IntN(oneInImpatient) == 0}
	p.left--
	p.counts.Events++
	p.counts.Deliveries++
	step := Step{first}
	switch repeat := p.random.IntN(oneInDuplicate) == 0; {
	case repeat && p.left > p.later.Len() && p.random.IntN(2) == 0:
		p.left--
		p.counts.Deliveries++
		p.counts.Concurrent++
		return append(step, p.again(first))
	case repeat && p.left > p.later.Len():
		delay := soonest + p.random.IntN(latest-soonest)
		heap.Push(&p.later, laterSending{due: p.step + delay, order: p.step, sending: p.again(first)})
	case !first.Impatient && p.random.IntN(oneInConflict) == 0:
		p.counts.Conflicts++
		step[0].ThenConflict = true
	case p.random.IntN(oneInRace) == 0:
		// Two bodies under one id at once: one of them is claimed, whichever it is.
		p.counts.Conflicts++
		return append(step, Sending{Event: n, Kind: Conflict, Node: p.otherNode(first.Node), Impatient: true})
	}
	return step
}

// again is the event once more, at another replica.
func (p *Plan) again(first Sending) Sending {
	s := Sending{Event: first.Event, Kind: Duplicate, Node: p.otherNode(first.Node)}
	if p.Event(first.Event).Endpoint == Repo && p.random.IntN(2) == 0 {
		s.Kind = Recast
	}
	return s
}

func (p *Plan) otherNode(node int) int {
	if p.nodes == 1 {
		return node
	}
	return (node + 1 + p.random.IntN(p.nodes-1)) % p.nodes
}

func (p *Plan) pop() Sending {
	next, _ := heap.Pop(&p.later).(laterSending)
	return next.sending
}

// Delivered is the event that a sending delivers.
func (p *Plan) Delivered(s Sending) Event {
	switch s.Kind {
	case Conflict:
		return p.Conflicting(s.Event)
	case Recast:
		e := p.Event(s.Event)
		e.ID += "_recast"
		return e
	case First, Duplicate:
	}
	return p.Event(s.Event)
}

type laterSending struct {
	due, order int
	sending    Sending
}

// laterQueue has what is due first at its front; of two, what was planned first.
type laterQueue []laterSending

func (q laterQueue) Len() int { return len(q) }
func (q laterQueue) Less(i, j int) bool {
	return q[i].due < q[j].due || q[i].due == q[j].due && q[i].order < q[j].order
}
func (q laterQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *laterQueue) Push(x any) {
	if s, ok := x.(laterSending); ok {
		*q = append(*q, s)
	}
}

// Pop implements heap.Interface.
func (q *laterQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
