// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"

	"github.com/hookonce/hookonce/bench/lab"
)

const (
	// crowd is the number of connections of too much load: more than the receiver takes at once, so that what it cannot take
	// waits there and not here.
	crowd = 2048
	// overloaded is how much is offered, as a multiple of what the receiver can do.
	overloaded = 1.2
)

// overload offers more than the receiver can take. What it takes must not wait long, what it does not take must be told
// so at once, and nothing that it acknowledged may be lost: load has compared that already.
func (b *bench) overload(ctx context.Context, ours *lab.Subject) error {
	peak := b.peak
	// What it can take is found just before each time: the machine is not as fast as it was minutes ago.
	rounds, err := b.interleave(ctx, []contestant{
		{"peak", func(ctx context.Context, _ int) (sample, error) {
			s, err := b.load(ctx, ours, sending{connections: connections[2], measure: b.turn()})
			peak = s.rate
			return s, err
		}},
		{"ours", func(ctx context.Context, _ int) (sample, error) {
			return b.load(ctx, ours, sending{connections: crowd, measure: b.measure, rate: overloaded * peak})
		}},
	}, 1)
	if err != nil {
		return err
	}
	b.report.Goal("overload.accepted_p99_ms", over(rounds, func(r round) float64 {
		return quantile(r["ours"].result.Latency, 99)
	}), "<=", 250)
	b.report.Goal("overload.refused_p99_ms", over(rounds, func(r round) float64 {
		return quantile(r["ours"].result.Refusals, 99)
	}), "<=", 50)
	b.report.Figure("overload.refused_share", over(rounds, func(r round) float64 { return r["ours"].refused() })...)
	b.report.Figure("overload.kept", over(rounds, func(r round) float64 { return r["ours"].rate / r["peak"].rate })...)
	b.report.Figure("overload.rate", over(rounds, func(r round) float64 { return r["ours"].rate })...)
	return nil
}
