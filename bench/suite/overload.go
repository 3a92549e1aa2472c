// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/report"
)

const (
	// crowd is the number of connections of too much load: more than the receiver takes at once, so that what it cannot take
	// waits there and not here.
	crowd = 2048
	// overloaded is how much is offered, as a multiple of what the receiver can do.
	overloaded = 1.2
)

// overload offers more than the receiver can take. What it takes must not wait long, what it does not take must be told
// so at once, and nothing that it acknowledged may be lost: load has compared that already. The senders have a processor of
// their own: their two thousand connections would take from the receiver what it was found to do without them.
type overload struct {
	ours   *lab.Subject
	rounds []round
}

func (s *overload) prepare(ctx context.Context, b *bench) (err error) {
	s.ours, err = b.ours(ctx)
	return err
}

// round finds what the receiver can take just before: the machine is not as fast as it was minutes ago.
func (s *overload) round(ctx context.Context, b *bench, i int) error {
	peak := 0.0
	return b.add(ctx, &s.rounds, i, []contestant{
		{"peak", func(ctx context.Context, _ int) (sample, error) {
			found, err := b.load(ctx, s.ours, sending{connections: connections[2], measure: b.turn(), apart: true})
			peak = found.rate
			return found, err
		}},
		{"ours", func(ctx context.Context, _ int) (sample, error) {
			return b.load(ctx, s.ours, sending{connections: crowd, measure: b.measure, rate: overloaded * peak, apart: true})
		}},
	})
}

func (s *overload) report(r *report.Report) {
	r.Goal("overload.accepted_p99_ms", over(s.rounds, func(r round) float64 { return r["ours"].quantile(99) }), "<=", 250)
	r.Goal("overload.refused_p99_ms", over(s.rounds, func(r round) float64 { return r["ours"].refusal(99) }), "<=", 50)
	r.Figure("overload.refused_share", over(s.rounds, func(r round) float64 { return r["ours"].refused() })...)
	r.Figure("overload.kept", ratios(s.rounds, "ours", "peak")...)
	r.Figure("overload.rate", over(s.rounds, func(r round) float64 { return r["ours"].rate() })...)
}
