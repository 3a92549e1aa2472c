// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/bench/pgbench"
)

// connections of the rounds, in turn.
var connections = []int{64, 128, 256}

// contestant is one of those that take turns in a round.
type contestant struct {
	name string
	run  func(ctx context.Context, connections int) (sample, error)
}

// round is what the contestants did in one round.
type round map[string]sample

// turn is how long a contestant runs where it has two turns in a round, in whole seconds as pgbench counts them.
func (b *bench) turn() time.Duration { return max(time.Second, (b.measure / 2).Round(time.Second)) }

// server makes a contestant of a subject.
func (b *bench) server(s *lab.Subject) contestant {
	return contestant{s.Name, func(ctx context.Context, connections int) (sample, error) {
		return b.load(ctx, s, sending{connections: connections, measure: b.turn()})
	}}
}

// limit makes a contestant of a script.
func (b *bench) limit(s *lab.Subject, script pgbench.Script) contestant {
	return contestant{script.Name, func(ctx context.Context, _ int) (sample, error) {
		return b.pgbench(ctx, s, script, 0, b.turn())
	}}
}

func (b *bench) ingest(ctx context.Context) error {
	tables, err := b.lab.Tables(ctx, "limits")
	if err != nil {
		return err
	}
	if err := b.calibrate(ctx, tables); err != nil {
		return err
	}
	ours, err := b.lab.Ours(ctx, "ours", false)
	if err != nil {
		return err
	}
	again, err := b.lab.Ours(ctx, "ours_again", false)
	if err != nil {
		return err
	}
	withEffect, err := b.lab.Ours(ctx, "ours_effect", true)
	if err != nil {
		return err
	}
	river, err := b.lab.River(ctx)
	if err != nil {
		return err
	}
	handwritten, err := b.lab.Handwritten(ctx)
	if err != nil {
		return err
	}
	empty := b.server(b.lab.Empty())
	rounds := make([]round, b.rounds)
	// Those that are compared have their turns close together; the rest wait.
	for _, group := range [][]contestant{
		{empty, b.server(ours), b.limit(tables, b.fifty), b.limit(tables, b.one)},
		{b.server(river), b.server(again), b.server(handwritten)},
		{named("empty_effect", empty), b.server(withEffect), b.limit(tables, b.effect)},
	} {
		found, err := b.interleave(ctx, group, 2)
		if err != nil {
			return err
		}
		rounds = rounds[:min(len(rounds), len(found))]
		for i := range rounds {
			if rounds[i] == nil {
				rounds[i] = round{}
			}
			maps.Copy(rounds[i], found[i])
		}
	}
	b.reportIngest(rounds)
	return nil
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
				Script: try.script, URL: tables.URL, Clients: clients, Measure: 2 * time.Second, Dir: b.lab.Dir,
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

// named is the contestant under another name.
func named(name string, c contestant) contestant { return contestant{name, c.run} }

// interleave has everybody run so many turns a round, forth and back, so that a slow trend of the machine meets all alike.
// A round in which the hypervisor or other programs took too much is discarded, and made again at most once for each that was asked for.
func (b *bench) interleave(ctx context.Context, contestants []contestant, turns int) ([]round, error) {
	var rounds []round
	for i := 0; len(rounds) < b.rounds && i < 2*b.rounds; i++ {
		r, stolen, others := round{}, 0.0, 0.0
		for _, c := range order(contestants, i, turns) {
			s, err := c.run(ctx, connections[i%len(connections)])
			if err != nil {
				return nil, err
			}
			b.say("round %d, %s: %.0f/s, %.0f us of CPU each, Postgres %.0f (%.0f %% stolen, %.0f %% used by others)",
				i+1, c.name, s.rate, s.cpu*1e6, s.cpuPostgres*1e6, 100*s.stolen, 100*s.others)
			r[c.name] = r[c.name].and(s)
			stolen, others = max(stolen, s.stolen), max(others, s.others)
		}
		if stolen > b.maxSteal || others > b.maxOthers {
			b.discarded++
			continue
		}
		rounds = append(rounds, r)
	}
	if len(rounds) == 0 {
		return nil, fmt.Errorf("in every round the hypervisor took more than %.0f %%, or other programs more than %.0f %%",
			100*b.maxSteal, 100*b.maxOthers)
	}
	return rounds, nil
}

// order is that of the turns in a round: forth and back, and back and forth in the next one.
func order(contestants []contestant, i, turns int) []contestant {
	var all []contestant
	for turn := range turns {
		next := slices.Clone(contestants)
		if (i+turn)%2 == 1 {
			slices.Reverse(next)
		}
		all = append(all, next...)
	}
	return all
}

// over returns what f says of each round.
func over(rounds []round, f func(round) float64) []float64 {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = f(r)
	}
	return values
}

func (b *bench) reportIngest(rounds []round) {
	rate := func(name string) func(round) float64 {
		return func(r round) float64 { return r[name].rate }
	}
	ratio := func(a, c string) []float64 {
		return over(rounds, func(r round) float64 { return r[a].rate / r[c].rate })
	}
	limit := func(server, empty, script string) []float64 {
		return over(rounds, func(r round) float64 {
			return r[server].rate / measure.Harmonic(r[empty].rate, r[script].rate)
		})
	}
	b.report.Goal("ingest.vs_limit", limit("ours", "empty", "fifty"), ">=", 0.75)
	b.report.Goal("ingest.vs_pgbench_single", ratio("ours", "one"), ">=", 1.5)
	b.report.Goal("ingest.vs_river", ratio("ours_again", "river"), ">=", 6)
	b.report.Goal("ingest.vs_handwritten", ratio("ours_again", "handwritten"), ">=", 5)
	b.report.Goal("effect.vs_limit", limit("ours_effect", "empty_effect", "effect"), ">=", 0.7)
	names := []string{"empty", "fifty", "one", "effect", "ours", "ours_again", "ours_effect", "empty_effect", "river", "handwritten"}
	for _, name := range names {
		b.report.Figure("rate."+name, over(rounds, rate(name))...)
	}
	cpu := func(name string) func(round) float64 {
		return func(r round) float64 { return r[name].cpu * 1e6 }
	}
	for _, name := range names {
		b.report.Figure("cpu_us."+name, over(rounds, cpu(name))...)
	}
	b.report.Figure("cpu.effect_vs_limit", over(rounds, func(r round) float64 {
		return (r["empty_effect"].cpu + r["effect"].cpu) / r["ours_effect"].cpu
	})...)
	b.report.Figure("cpu.vs_limit", over(rounds, func(r round) float64 { return (r["empty"].cpu + r["fifty"].cpu) / r["ours"].cpu })...)
	b.report.Figure("cpu.vs_river", over(rounds, func(r round) float64 { return r["river"].cpu / r["ours_again"].cpu })...)
	b.report.Figure("cpu.vs_handwritten", over(rounds, func(r round) float64 { return r["handwritten"].cpu / r["ours_again"].cpu })...)
	for _, name := range []string{"ours", "ours_effect", "river", "handwritten"} {
		b.report.Figure("refused."+name, over(rounds, func(r round) float64 { return r[name].refused() })...)
	}
	b.peak = measure.Summarize(over(rounds, rate("ours"))).Median
}
