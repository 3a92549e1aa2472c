// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"time"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/bench/pgbench"
	"github.com/hookonce/hookonce/bench/report"
)

// ingest compares the receiver with the limit of the machine, and with itself: a second receiver, with a database of its
// own, that differs from the first in nothing. What that comparison says beside 1 is noise.
type ingest struct {
	tables, ours, control *lab.Subject
	rounds                []round
}

func (s *ingest) prepare(ctx context.Context, b *bench) (err error) {
	if s.tables, err = b.limits(ctx); err != nil {
		return err
	}
	if s.ours, err = b.ours(ctx); err != nil {
		return err
	}
	s.control, err = b.control(ctx)
	return err
}

func (s *ingest) round(ctx context.Context, b *bench, i int) error {
	baselines := []contestant{b.server("empty", b.lab.Empty()), b.limit(s.tables, b.one), b.limit(s.tables, b.fifty)}
	ours := b.server("ours", s.ours)
	before := len(s.rounds)
	err := b.add(ctx, &s.rounds, i, around(baselines, ours, b.server("control", s.control), ours))
	if len(s.rounds) > before {
		last := s.rounds[len(s.rounds)-1]
		b.peak, b.peakSingle = last["ours"].rate(), last["one"].rate()
	}
	return err
}

// limit is what would be left if receiving cost no more than HTTP, and storing no more than the script's SQL.
func (r round) limit(script string) float64 {
	return measure.Harmonic(r["empty"].rate(), r[script].rate())
}

// drift is the limit after the subject's turns against the limit before them.
func (r round) drift(script string) float64 {
	empty, pg := r["empty"], r[script]
	return measure.Harmonic(empty[len(empty)-1].rate, pg[len(pg)-1].rate) / measure.Harmonic(empty[0].rate, pg[0].rate)
}

func (s *ingest) report(r *report.Report) {
	r.Goal("ingest.vs_limit", over(s.rounds, func(r round) float64 {
		return r["ours"].rate() / r.limit("fifty")
	}), ">=", 0.75)
	r.Goal("ingest.vs_pgbench_single", ratios(s.rounds, "ours", "one"), ">=", 1.5)
	r.Figure("control.ingest", ratios(s.rounds, "control", "ours")...)
	r.Figure("control.limit_drift", over(s.rounds, func(r round) float64 { return r.drift("fifty") })...)
	r.Figure("ingest.rate.limit", over(s.rounds, func(r round) float64 { return r.limit("fifty") })...)
	spent(r, "ingest", s.rounds, "ours", "control", "empty", "fifty", "one")
	r.Figure("ingest.cpu_vs_limit", over(s.rounds, func(r round) float64 {
		return (r["empty"].cpu() + r["fifty"].cpu()) / r["ours"].cpu()
	})...)
	r.Figure("ingest.refused.ours", over(s.rounds, func(r round) float64 { return r["ours"].refused() })...)
}

// peers compares the receiver with what people would write.
type peers struct {
	ours, river, handwritten *lab.Subject
	rounds                   []round
}

func (s *peers) prepare(ctx context.Context, b *bench) (err error) {
	if s.ours, err = b.ours(ctx); err != nil {
		return err
	}
	if s.river, err = b.lab.River(ctx); err != nil {
		return err
	}
	s.handwritten, err = b.lab.Handwritten(ctx)
	return err
}

func (s *peers) round(ctx context.Context, b *bench, i int) error {
	baselines := []contestant{b.server("river", s.river), b.server("handwritten", s.handwritten)}
	return b.add(ctx, &s.rounds, i, around(baselines, b.server("ours", s.ours)))
}

func (s *peers) report(r *report.Report) {
	r.Goal("ingest.vs_river", ratios(s.rounds, "ours", "river"), ">=", 6)
	r.Goal("ingest.vs_handwritten", ratios(s.rounds, "ours", "handwritten"), ">=", 5)
	spent(r, "peers", s.rounds, "ours", "river", "handwritten")
	for _, peer := range []string{"river", "handwritten"} {
		r.Figure("peers.cpu_vs_"+peer, over(s.rounds, func(r round) float64 { return r[peer].cpu() / r["ours"].cpu() })...)
		r.Figure("peers.refused."+peer, over(s.rounds, func(r round) float64 { return r[peer].refused() })...)
	}
}

// effect compares the receiver with an effect with the limit with the same.
type effect struct {
	tables, ours *lab.Subject
	rounds       []round
}

func (s *effect) prepare(ctx context.Context, b *bench) (err error) {
	if s.tables, err = b.limits(ctx); err != nil {
		return err
	}
	s.ours, err = b.lab.Ours(ctx, "ours_effect", true)
	return err
}

func (s *effect) round(ctx context.Context, b *bench, i int) error {
	baselines := []contestant{b.server("empty", b.lab.Empty()), b.limit(s.tables, b.effect)}
	return b.add(ctx, &s.rounds, i, around(baselines, b.server("ours", s.ours)))
}

func (s *effect) report(r *report.Report) {
	r.Goal("effect.vs_limit", over(s.rounds, func(r round) float64 {
		return r["ours"].rate() / r.limit("effect")
	}), ">=", 0.7)
	r.Figure("effect.rate.limit", over(s.rounds, func(r round) float64 { return r.limit("effect") })...)
	spent(r, "effect", s.rounds, "ours", "empty", "effect")
	r.Figure("effect.cpu_vs_limit", over(s.rounds, func(r round) float64 {
		return (r["empty"].cpu() + r["effect"].cpu()) / r["ours"].cpu()
	})...)
	r.Figure("effect.refused.ours", over(s.rounds, func(r round) float64 { return r["ours"].refused() })...)
}

func ratios(rounds []round, subject, baseline string) []float64 {
	return over(rounds, func(r round) float64 { return r[subject].rate() / r[baseline].rate() })
}

// spent reports how many events a second each stored, and what an event cost in processor time.
func spent(to *report.Report, section string, rounds []round, names ...string) {
	for _, name := range names {
		to.Figure(section+".rate."+name, over(rounds, func(r round) float64 { return r[name].rate() })...)
	}
	for _, name := range names {
		to.Figure(section+".cpu_us."+name, over(rounds, func(r round) float64 { return r[name].cpu() * 1e6 })...)
	}
}

// limits are the ledger's tables for pgbench, when the number of clients with which it is fastest is known.
func (b *bench) limits(ctx context.Context) (*lab.Subject, error) {
	if b.tables != nil {
		return b.tables, nil
	}
	tables, err := b.lab.Tables(ctx, "limits")
	if err != nil {
		return nil, err
	}
	b.tables = tables
	return tables, b.calibrate(ctx, tables)
}

// calibrate finds the number of clients with which pgbench is fastest.
func (b *bench) calibrate(ctx context.Context, tables *lab.Subject) error {
	for _, try := range []struct {
		script  pgbench.Script
		clients []int
	}{{b.fifty, []int{2, 4, 8}}, {b.one, []int{8, 16, 32, 64}}, {b.effect, []int{8, 16, 32, 64}}} {
		best := 0.0
		for _, clients := range try.clients {
			if err := tables.Empty(ctx); err != nil {
				return err
			}
			r, err := pgbench.Run(ctx, pgbench.Plan{
				Script: try.script, URL: tables.URL, Clients: clients, Warmup: time.Second, Measure: time.Second, Dir: b.lab.Dir,
			})
			if err != nil {
				return err
			}
			b.say("pgbench %s with %d clients: %.0f events/s", try.script.Name, clients, r.Rate)
			if r.Rate > best {
				best, b.clients[try.script.Name] = r.Rate, clients
			}
		}
	}
	return nil
}

// ours is the receiver without an effect, the same for all sections.
func (b *bench) ours(ctx context.Context) (*lab.Subject, error) {
	return b.receiver(ctx, &b.receivers.ours, "ours")
}

// control is a receiver like ours.
func (b *bench) control(ctx context.Context) (*lab.Subject, error) {
	return b.receiver(ctx, &b.receivers.control, "control")
}

func (b *bench) receiver(ctx context.Context, known **lab.Subject, name string) (*lab.Subject, error) {
	if *known != nil {
		return *known, nil
	}
	s, err := b.lab.Ours(ctx, name, false)
	if err == nil {
		*known = s
	}
	return s, err
}
