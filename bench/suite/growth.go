// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"

	"github.com/hookonce/hookonce/bench/lab"
)

const (
	// fewClaims is how many claims a young ledger has.
	fewClaims = 10_000
	// growthRate is the part of the peak at which latency is compared.
	growthRate = 0.5
)

// growth compares a ledger with few claims and one with many.
func (b *bench) growth(ctx context.Context) error {
	young, err := b.lab.Ours(ctx, "growth_young", false)
	if err != nil {
		return err
	}
	old, err := b.lab.Ours(ctx, "growth_old", false)
	if err != nil {
		return err
	}
	if err := b.findPeak(ctx, young); err != nil {
		return err
	}
	b.say("filling in %d claims", b.retained)
	if err := old.Retain(ctx, b.retained); err != nil {
		return err
	}
	run := func(s *lab.Subject, rate float64, prepare func(context.Context) error) contestant {
		return contestant{s.Name, func(ctx context.Context, connections int) (sample, error) {
			if err := prepare(ctx); err != nil {
				return sample{}, err
			}
			how := sending{connections: connections, measure: b.turn(), rate: rate, keep: true}
			if rate > 0 {
				how.connections = latencyConnections
			}
			return b.load(ctx, s, how)
		}}
	}
	contestants := func(rate float64) []contestant {
		return []contestant{
			run(young, rate, func(ctx context.Context) error { return young.Retain(ctx, fewClaims) }),
			// Its claims stay, with those of the rounds before.
			run(old, rate, old.EmptyEvents),
		}
	}
	rounds, err := b.interleave(ctx, contestants(0), 2)
	if err != nil {
		return err
	}
	b.report.Goal("growth.rate", over(rounds, func(r round) float64 { return r[old.Name].rate / r[young.Name].rate }), ">=", 0.85)
	b.report.Figure("growth.rate.young", over(rounds, func(r round) float64 { return r[young.Name].rate })...)
	b.report.Figure("growth.rate.old", over(rounds, func(r round) float64 { return r[old.Name].rate })...)
	if rounds, err = b.interleave(ctx, contestants(growthRate*b.peak), 2); err != nil {
		return err
	}
	b.report.Goal("growth.p99", over(rounds, func(r round) float64 {
		return quantile(r[old.Name].result.Latency, 99) / quantile(r[young.Name].result.Latency, 99)
	}), "<=", 1.5)
	b.report.Figure("growth.retained", float64(b.retained))
	return nil
}
