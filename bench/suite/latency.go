// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/report"
)

const (
	// quietRate is that of an endpoint with little to do, in requests a second.
	quietRate = 100
	// latencyConnections of the load at a given rate.
	latencyConnections = 64
	// lower is what the rate is multiplied with when the baseline has fallen behind it.
	lower = 0.7
)

// latency compares the receiver with pgbench at the same rate, one that both hold.
type latency struct {
	tables, ours, control *lab.Subject
	quiet, half           []round
	// rates that half was measured at, one for each round.
	rates []float64
}

func (s *latency) prepare(ctx context.Context, b *bench) (err error) {
	if s.tables, err = b.limits(ctx); err != nil {
		return err
	}
	if s.ours, err = b.ours(ctx); err != nil {
		return err
	}
	s.control, err = b.control(ctx)
	return err
}

func (s *latency) round(ctx context.Context, b *bench, i int) error {
	if err := b.add(ctx, &s.quiet, i, s.turns(b, quietRate, b.measure)); err != nil {
		return err
	}
	if err := b.findPeaks(ctx, s.ours, s.tables); err != nil {
		return err
	}
	rate := min(b.peak, b.peakSingle) / 2
	for range tries {
		r, fault, err := b.take(ctx, i, s.turns(b, rate, b.turn()))
		if err != nil {
			return err
		}
		if fault == "" && !r["pgbench"].hold(rate) {
			fault = fmt.Sprintf("pgbench did not hold %.0f/s", rate)
			rate *= lower
		}
		if fault == "" {
			s.half, s.rates = append(s.half, r), append(s.rates, rate)
			return nil
		}
		if again, err := b.discard(ctx, i, fault); err != nil || !again {
			return err
		}
	}
	return nil
}

// turns at a rate: pgbench directly before and after the receivers, and the handler that does nothing once, for orientation.
func (s *latency) turns(b *bench, rate float64, span time.Duration) []contestant {
	server := func(name string, subject *lab.Subject) contestant {
		return contestant{name, func(ctx context.Context, _ int) (sample, error) {
			return b.load(ctx, subject, sending{connections: latencyConnections, measure: span, rate: rate})
		}}
	}
	ours := server("ours", s.ours)
	pg := contestant{"pgbench", func(ctx context.Context, _ int) (sample, error) {
		return b.pgbench(ctx, s.tables, storing{script: b.one, clients: b.clients[b.one.Name], measure: span, rate: rate})
	}}
	return append([]contestant{server("empty", b.lab.Empty())}, around([]contestant{pg}, ours, server("control", s.control), ours)...)
}

// hold says whether all turns did what was asked for, within what chance explains: requests come at random moments. Who did
// less has fallen behind, and who did more had fallen behind before and was still making up for it.
func (t turns) hold(rate float64) bool {
	for _, s := range t {
		if math.Abs(s.rate-rate) > 0.02*rate+4*math.Sqrt(rate/s.span.Seconds()) {
			return false
		}
	}
	return true
}

func (s *latency) report(r *report.Report) {
	for _, at := range []struct {
		name   string
		rounds []round
	}{{"at_100", s.quiet}, {"at_half", s.half}} {
		for _, q := range []struct {
			name    string
			percent float64
			goal    float64
		}{{"p50", 50, 1.3}, {"p99", 99, 2}} {
			ratio := func(subject, baseline string) []float64 {
				return over(at.rounds, func(r round) float64 {
					return r[subject].quantile(q.percent) / r[baseline].quantile(q.percent)
				})
			}
			r.Goal("latency."+q.name+"."+at.name, ratio("ours", "pgbench"), "<=", q.goal)
			r.Figure("control.latency."+q.name+"."+at.name, ratio("control", "ours")...)
			r.Figure("latency.parts."+q.name+"."+at.name, over(at.rounds, func(r round) float64 {
				return r["ours"].quantile(q.percent) / (r["empty"].quantile(q.percent) + r["pgbench"].quantile(q.percent))
			})...)
			for _, name := range []string{"ours", "pgbench", "empty"} {
				r.Figure("latency.ms."+q.name+"."+at.name+"."+name, over(at.rounds, func(r round) float64 {
					return r[name].quantile(q.percent)
				})...)
			}
		}
	}
	r.Figure("latency.offered.at_half", s.rates...)
	for _, name := range []string{"ours", "pgbench"} {
		held := make([]float64, len(s.half))
		for i, r := range s.half {
			held[i] = r[name].rate() / s.rates[i]
		}
		r.Figure("latency.held.at_half."+name, held...)
	}
}

// findPeaks measures what the receiver and pgbench do at saturation, unless this round has already.
func (b *bench) findPeaks(ctx context.Context, ours, tables *lab.Subject) error {
	if b.peak > 0 && b.peakSingle > 0 {
		return nil
	}
	if err := b.findPeak(ctx, ours); err != nil {
		return err
	}
	single, err := b.limit(tables, b.one).run(ctx, 0)
	b.peakSingle = single.rate
	b.say("at saturation: pgbench %.0f/s", b.peakSingle)
	return err
}

// findPeak measures the receiver's rate at saturation, unless this round has already.
func (b *bench) findPeak(ctx context.Context, ours *lab.Subject) error {
	if b.peak > 0 {
		return nil
	}
	s, err := b.load(ctx, ours, sending{connections: connections[1], measure: b.turn()})
	b.peak = s.rate
	b.say("at saturation: %.0f/s", s.rate)
	return err
}
