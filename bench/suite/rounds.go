// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/load"
	"github.com/hookonce/hookonce/bench/pgbench"
)

// connections of the rounds, in turn.
var connections = []int{64, 128, 256}

// contestant is one of those that take turns in a round.
type contestant struct {
	name string
	run  func(ctx context.Context, connections int) (sample, error)
}

// server makes a contestant of a subject.
func (b *bench) server(name string, s *lab.Subject) contestant {
	return contestant{name, func(ctx context.Context, connections int) (sample, error) {
		return b.load(ctx, s, sending{connections: connections, measure: b.turn()})
	}}
}

// limit makes a contestant of a script.
func (b *bench) limit(s *lab.Subject, script pgbench.Script) contestant {
	return contestant{script.Name, func(ctx context.Context, _ int) (sample, error) {
		return b.pgbench(ctx, s, storing{script: script, clients: b.clients[script.Name], measure: b.turn()})
	}}
}

// turn is how long a contestant runs where it has several turns in a round, in whole seconds as pgbench counts them.
func (b *bench) turn() time.Duration { return max(time.Second, (b.measure / 2).Round(time.Second)) }

// around has the baselines run directly before and, in the opposite order, directly after the subjects: however steadily the
// machine becomes faster or slower meanwhile, the means of both are of the same moment.
func around(baselines []contestant, subjects ...contestant) []contestant {
	back := slices.Clone(baselines)
	slices.Reverse(back)
	return slices.Concat(baselines, subjects, back)
}

// round is what the contestants did in one round.
type round map[string]turns

// turns are those of one contestant in one round.
type turns []sample

// rate is the mean, in events a second.
func (t turns) rate() float64 {
	sum := 0.0
	for _, s := range t {
		sum += s.rate
	}
	return sum / float64(len(t))
}

// cpu is the processor time for each event, in seconds.
func (t turns) cpu() float64 {
	spent, events := 0.0, 0.0
	for _, s := range t {
		spent += s.cpu * s.rate
		events += s.rate
	}
	return spent / events
}

// quantile of the times of all acknowledged requests, in milliseconds.
func (t turns) quantile(percent float64) float64 {
	return quantile(t.merged(func(s sample) *hdrhistogram.Histogram { return s.latency }), percent)
}

// refusal is a quantile of the times of all requests that were told to come again, in milliseconds.
func (t turns) refusal(percent float64) float64 {
	return quantile(t.merged(func(s sample) *hdrhistogram.Histogram { return s.refusals }), percent)
}

// refused is the part of the answers that told the sender to come again.
func (t turns) refused() float64 {
	refused := float64(t.merged(func(s sample) *hdrhistogram.Histogram { return s.refusals }).TotalCount())
	accepted := float64(t.merged(func(s sample) *hdrhistogram.Histogram { return s.latency }).TotalCount())
	return refused / max(1, refused+accepted)
}

func (t turns) merged(of func(sample) *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	all := load.NewHistogram()
	for _, s := range t {
		if h := of(s); h != nil {
			all.Merge(h)
		}
	}
	return all
}

func quantile(h *hdrhistogram.Histogram, percent float64) float64 {
	return float64(h.ValueAtQuantile(percent)) / float64(time.Millisecond)
}

// over returns what f says of each round.
func over(rounds []round, f func(round) float64) []float64 {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = f(r)
	}
	return values
}

// tries is how often a round is begun until it is given up.
const tries = 4

// add makes a round and adds it to those before. One that does not count is begun again, while there is time.
func (b *bench) add(ctx context.Context, to *[]round, i int, order []contestant) error {
	for range tries {
		r, fault, err := b.take(ctx, i, order)
		if err != nil {
			return err
		}
		if fault == "" {
			*to = append(*to, r)
			return nil
		}
		if again, err := b.discard(ctx, i, fault); err != nil || !again {
			return err
		}
	}
	return nil
}

// discard waits until what has disturbed a round may be over, and says whether there is time for another.
func (b *bench) discard(ctx context.Context, i int, fault string) (again bool, err error) {
	b.discarded++
	b.say("round %d does not count: %s", i+1, fault)
	if time.Since(b.started) > b.budget {
		return false, nil
	}
	return true, b.wait(ctx, b.pause)
}

// take makes a round, and says why it does not count if the hypervisor or other programs took too much meanwhile; then it
// is not made to the end.
func (b *bench) take(ctx context.Context, i int, order []contestant) (r round, fault string, err error) {
	r = round{}
	for _, c := range order {
		s, err := c.run(ctx, connections[i%len(connections)])
		if err != nil {
			return nil, "", err
		}
		b.say("round %d, %s: %.0f/s, %.0f us of CPU each, Postgres %.0f (%.0f %% stolen, %.0f %% used by others)",
			i+1, c.name, s.rate, s.cpu*1e6, s.cpuPostgres*1e6, 100*s.stolen, 100*s.others)
		r[c.name] = append(r[c.name], s)
		switch {
		case s.stolen > b.maxSteal:
			return nil, fmt.Sprintf("the hypervisor took %.0f %% of the processors", 100*s.stolen), nil
		case s.others > b.maxOthers:
			return nil, fmt.Sprintf("other programs took %.0f %% of the processors", 100*s.others), nil
		}
	}
	return r, "", nil
}
