// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package oracles

import (
	"flag"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
)

var (
	seed  = flag.Uint64("seed", 1, "seed of the generated deliveries")
	cases = flag.Int("cases", 100_000, "how many deliveries, over all libraries")
)

// maxShown is how many unexplained disagreements are printed for each library.
const maxShown = 10

// TestAgreement: we and each library say the same of every delivery, or a rule says why not.
func TestAgreement(t *testing.T) {
	t.Logf("seed %d, %d deliveries", *seed, *cases)
	for i, o := range oracles {
		t.Run(o.library, func(t *testing.T) {
			described, found := scheme.Preset(o.scheme)
			if !found {
				t.Fatalf("there is no preset %s", o.scheme)
			}
			// In the bubble, the library's clock stands still.
			synctest.Test(t, func(t *testing.T) {
				c := &comparison{oracle: o, scheme: described, fired: make([]int, len(o.rules))}
				share := (*cases + len(oracles) - 1) / len(oracles)
				for n := range share {
					c.compare(t, n, rand.New(rand.NewPCG(*seed+uint64(i)<<32, uint64(n)))) //nolint:gosec // the same for the same seed
				}
				c.report(t, share)
			})
		})
	}
}

// comparison counts what both sides say.
type comparison struct {
	*oracle
	scheme             scheme.Scheme
	accepted, rejected int
	fired              []int
	unexplained        int
}

func (c *comparison) compare(t *testing.T, n int, r *rand.Rand) {
	// Another fraction of a second for each delivery.
	<-time.After(time.Duration(r.Int64N(int64(2 * time.Second))))
	d := newDelivery(&c.grammar, r, time.Now())
	ours, theirs := c.ours(c.scheme, d), c.theirs(d)
	switch {
	case ours.accepted && theirs.accepted:
		c.accepted++
		return
	case !ours.accepted && !theirs.accepted:
		c.rejected++
		return
	}
	for i, rule := range c.rules {
		if rule.accept == ours.accepted && rule.applies(d, ours, theirs) {
			c.fired[i]++
			return
		}
	}
	if c.unexplained++; c.unexplained <= maxShown {
		t.Errorf("delivery %d is unexplained: we %+v, they %+v\n%s", n, ours, theirs, d)
	}
}

func (c *comparison) report(t *testing.T, share int) {
	t.Logf("%d deliveries: both accept %d, both reject %d", share, c.accepted, c.rejected)
	for i, rule := range c.rules {
		who := "they accept"
		if rule.accept == weAccept {
			who = "we accept"
		}
		t.Logf("%7d %s: %s (%s)", c.fired[i], who, rule.name, rule.why)
		if c.fired[i] == 0 {
			t.Errorf("the rule %q never applied: remove it, or generate what it is about", rule.name)
		}
	}
	if c.unexplained > 0 {
		t.Errorf("%d disagreements are unexplained", c.unexplained)
	}
	if c.accepted < share/10 || c.rejected < share/10 {
		t.Errorf("both accept %d and both reject %d of %d: too few to compare anything", c.accepted, c.rejected, share)
	}
}
