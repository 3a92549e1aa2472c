// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/report"
)

const (
	// fewClaims is how many claims a young ledger has.
	fewClaims = 10_000
	// growthRate is the part of the peak at which latency is compared.
	growthRate = 0.5
)

// growth compares a ledger with few claims and one with many.
type growth struct {
	young, old *lab.Subject
	retained   int
	rates, p99 []round
}

func (s *growth) prepare(ctx context.Context, b *bench) (err error) {
	if s.young, err = b.lab.Ours(ctx, "growth_young", false); err != nil {
		return err
	}
	if s.old, err = b.lab.Ours(ctx, "growth_old", false); err != nil {
		return err
	}
	b.say("filling in %d claims", b.retained)
	s.retained = b.retained
	return s.old.Retain(ctx, b.retained)
}

func (s *growth) round(ctx context.Context, b *bench, i int) error {
	if err := b.add(ctx, &s.rates, i, s.turns(b, 0)); err != nil {
		return err
	}
	if err := b.findPeak(ctx, s.young); err != nil {
		return err
	}
	return b.add(ctx, &s.p99, i, s.turns(b, growthRate*b.peak))
}

// turns at a rate, or at saturation if it is 0: the young ledger directly before and after the old one.
func (s *growth) turns(b *bench, rate float64) []contestant {
	run := func(name string, subject *lab.Subject, prepare func(context.Context) error) contestant {
		return contestant{name, func(ctx context.Context, connections int) (sample, error) {
			if err := prepare(ctx); err != nil {
				return sample{}, err
			}
			how := sending{connections: connections, measure: b.turn(), rate: rate, keep: true}
			if rate > 0 {
				how.connections = latencyConnections
			}
			return b.load(ctx, subject, how)
		}}
	}
	young := run("young", s.young, func(ctx context.Context) error { return s.young.Retain(ctx, fewClaims) })
	// Its claims stay, with those of the rounds before.
	return around([]contestant{young}, run("old", s.old, s.old.EmptyEvents))
}

func (s *growth) report(r *report.Report) {
	r.Goal("growth.rate", ratios(s.rates, "old", "young"), ">=", 0.85)
	r.Goal("growth.p99", over(s.p99, func(r round) float64 { return r["old"].quantile(99) / r["young"].quantile(99) }), "<=", 1.5)
	for _, name := range []string{"young", "old"} {
		r.Figure("growth.rate."+name, over(s.rates, func(r round) float64 { return r[name].rate() })...)
		r.Figure("growth.ms.p99."+name, over(s.p99, func(r round) float64 { return r[name].quantile(99) })...)
	}
	r.Figure("growth.retained", float64(s.retained))
}
