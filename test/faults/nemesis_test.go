// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// schedule says how often which fault comes; 0 means never.
type schedule struct {
	kill, crash, pause, toxic, part, prune time.Duration
	// partSpan is how long a node is without its database. Longer than a lease, other nodes take over what is leased to it,
	// and what it owes to the outbox comes too late.
	partSpan time.Duration
}

// everything is the schedule of the fault tier.
var everything = schedule{
	kill: 5 * time.Second, crash: 20 * time.Second, pause: 11 * time.Second, toxic: 2 * time.Second,
	part: 60 * time.Second, partSpan: 35 * time.Second, prune: 15 * time.Second,
}

// nemesis makes the world suffer, by a schedule and a seed.
type nemesis struct {
	w    *world
	seed uint64

	kills, crashes, pauses, toxics, parts, prunes atomic.Int64
}

// repeatable gives the same numbers for the same seed and purpose.
func repeatable(seed, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose)) //nolint:gosec // It must be repeatable, and needs no secrecy.
}

// run goes on until the context ends, and returns when all that suffers is whole again.
func (n *nemesis) run(ctx context.Context, s schedule) {
	faults := []struct {
		every  time.Duration
		inject func(ctx context.Context, random *rand.Rand)
	}{
		{s.kill, n.kill},
		{s.crash, n.crash},
		{s.pause, n.pause},
		{s.toxic, n.toxic},
		{s.part, func(ctx context.Context, random *rand.Rand) { n.part(ctx, random, s.partSpan) }},
		{s.prune, n.prune},
	}
	var running sync.WaitGroup
	for i, fault := range faults {
		if fault.every == 0 {
			continue
		}
		random := repeatable(n.seed, uint64(100+i))
		running.Go(func() {
			ticker := time.NewTicker(fault.every)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					fault.inject(ctx, random)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	running.Wait()
}

// victim takes a node that nothing else ails, and holds it; nil if there is none.
func (n *nemesis) victim(random *rand.Rand) *node {
	first := random.IntN(len(n.w.nodes))
	for i := range n.w.nodes {
		if node := n.w.nodes[(first+i)%len(n.w.nodes)]; node.fault.TryLock() {
			return node
		}
	}
	return nil
}

func (n *nemesis) kill(ctx context.Context, random *rand.Rand) {
	node, down := n.victim(random), time.Duration(random.IntN(500))*time.Millisecond
	if node == nil {
		return
	}
	defer node.fault.Unlock()
	node.kill()
	n.kills.Add(1)
	rest(ctx, down)
	if err := node.start(); err != nil {
		n.w.t.Errorf("start node %d again: %v", node.number, err)
	}
}

func (n *nemesis) crash(context.Context, *rand.Rand) {
	if err := n.w.crashPostgres(); err != nil {
		n.w.t.Error(err)
		return
	}
	n.crashes.Add(1)
}

func (n *nemesis) pause(ctx context.Context, random *rand.Rand) {
	// Mostly shorter than what senders wait for, sometimes longer.
	node, span := n.victim(random), time.Duration(100+random.IntN(1500))*time.Millisecond
	if random.IntN(6) == 0 {
		span += attemptTimeout
	}
	if node == nil {
		return
	}
	defer node.fault.Unlock()
	node.signal(syscall.SIGSTOP)
	n.pauses.Add(1)
	rest(ctx, span)
	node.signal(syscall.SIGCONT)
}

// toxic makes one link slow, or resets what passes over it. Links may be those of a node that is ailing already.
func (n *nemesis) toxic(ctx context.Context, random *rand.Rand) {
	node := n.w.nodes[random.IntN(len(n.w.nodes))]
	links := []*link{node.database, node.database, n.w.sinkLink}
	for _, r := range node.receivers {
		links = append(links, r.front)
	}
	to := links[random.IntN(len(links))]
	stream := []string{"upstream", "downstream"}[random.IntN(2)]
	kind, attributes := "latency", map[string]int{"latency": 5 + random.IntN(60), "jitter": random.IntN(40)}
	span := time.Duration(500+random.IntN(1500)) * time.Millisecond
	if random.IntN(2) == 0 {
		kind, attributes = "reset_peer", map[string]int{"timeout": random.IntN(20)}
		span /= 4
	}
	if err := to.afflict(ctx, kind, stream, attributes, span); err != nil {
		n.w.t.Errorf("%s on %s: %v", kind, to.Name, err)
		return
	}
	n.toxics.Add(1)
}

// part takes the database from one node, for longer than its leases last.
func (n *nemesis) part(ctx context.Context, random *rand.Rand, span time.Duration) {
	node := n.victim(random)
	if node == nil {
		return
	}
	defer node.fault.Unlock()
	n.parts.Add(1)
	if err := node.database.part(ctx, span); err != nil {
		n.w.t.Errorf("part node %d from its database: %v", node.number, err)
	}
}

func (n *nemesis) prune(_ context.Context, random *rand.Rand) {
	n.w.command("prune", n.w.endpoints[random.IntN(len(n.w.endpoints))], false)
	n.prunes.Add(1)
}
