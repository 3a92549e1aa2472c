// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package cutter

import (
	"math/rand/v2"
	"sync"
)

// Point is where a connection is cut.
type Point int

// The points, in the order in which a commit passes them.
const (
	// BeforeCommit: what comes before the COMMIT has been forwarded, and the COMMIT is not.
	BeforeCommit Point = iota
	// AfterForward: the COMMIT has been forwarded, and both sides are cut at once: the server may commit or not.
	AfterForward
	// BeforeAnswer: the server has committed and said so, and nothing of that reaches the client.
	BeforeAnswer
	// MidAnswer: half of the bytes of the server's answer have reached the client.
	MidAnswer
	// AfterAnswer: the client has the whole answer, and the connection ends before its next statement.
	AfterAnswer
	// Points is how many there are.
	Points int = iota
)

func (p Point) String() string {
	return [...]string{"before commit", "after forward", "before answer", "mid answer", "after answer"}[p]
}

// none says that a commit passes.
const none Point = -1

// Cuts decides which commits are cut, and counts. It is shared by the proxies of a run; the order of its decisions
// follows from the seed.
type Cuts struct {
	mu     sync.Mutex
	random *rand.Rand
	share  float64
	left   [Points]int
	made   [Points]int
	passed int
}

// NewCuts cuts that share of the commits, from 0 to 1, until each point has had so many cuts.
func NewCuts(seed uint64, share float64, perPoint int) *Cuts {
	random := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // It must be repeatable, and needs no secrecy.
	c := &Cuts{random: random, share: share}
	for p := range c.left {
		c.left[p] = perPoint
	}
	return c
}

// next decides about a commit that is on its way: where it is cut, and whether by a reset.
func (c *Cuts) next() (p Point, abrupt bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var open []Point
	for p, left := range c.left {
		if left > 0 {
			open = append(open, Point(p))
		}
	}
	if len(open) == 0 || c.random.Float64() >= c.share {
		c.passed++
		return none, false
	}
	p = open[c.random.IntN(len(open))]
	c.left[p]--
	return p, c.random.IntN(2) == 0
}

// done counts a cut that was made; undone gives one back whose commit was answered with a failure, or never.
func (c *Cuts) done(p Point) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made[p]++
}

func (c *Cuts) undone(p Point) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left[p]++
}

// Made is how many cuts were made at each point, and how many commits of claims passed.
func (c *Cuts) Made() (perPoint [Points]int, passed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made, c.passed
}

// Complete says whether each point has had its cuts.
func (c *Cuts) Complete() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left == [Points]int{}
}

// Heal lets all commits pass from now on.
func (c *Cuts) Heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.share = 0
}
