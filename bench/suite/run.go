// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/load"
	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/bench/pgbench"
)

// sample is one run of one subject.
type sample struct {
	// rate is in events a second.
	rate float64
	// cpu is the processor time for each event, in seconds: all of it, and Postgres's part.
	cpu, cpuPostgres float64
	result           *load.Result
	pg               pgbench.Result
	// stolen by the hypervisor, and used by others on this machine: parts of the processors' time.
	stolen, others float64
}

// and puts two turns of one contestant together.
func (s sample) and(other sample) sample {
	if s.rate == 0 && s.result == nil {
		return other
	}
	events := s.rate + other.rate
	if events > 0 {
		s.cpu = (s.cpu*s.rate + other.cpu*other.rate) / events
		s.cpuPostgres = (s.cpuPostgres*s.rate + other.cpuPostgres*other.rate) / events
	}
	s.rate = events / 2
	if s.result != nil && other.result != nil {
		s.result.Latency.Merge(other.result.Latency)
		s.result.Refusals.Merge(other.result.Refusals)
	}
	return s
}

// meter reads the clocks when counting begins and ends.
type meter struct {
	b   *bench
	pid int
	// begun and ended are the readings; err the first that could not be made.
	begun, ended reading
	err          error
}

type reading struct {
	clock measure.Clock
	// The server, Postgres, and all of them with this program and what it runs besides.
	server, postgres, self time.Duration
}

func (m *meter) read() reading {
	var r reading
	var errs [4]error
	r.clock, errs[0] = measure.ReadClock()
	if m.pid != 0 {
		r.server, errs[1] = measure.CPU(m.pid)
	}
	r.postgres, errs[2] = measure.TreeCPU(m.b.lab.Postgres.Pid())
	r.self, errs[3] = measure.TreeCPU(os.Getpid())
	if m.err == nil {
		m.err = errors.Join(errs[:]...)
	}
	return r
}

func (m *meter) begin() { m.begun = m.read() }
func (m *meter) end()   { m.ended = m.read() }

// into fills in what was used for so many events.
func (m *meter) into(s *sample, events float64) error {
	if m.err != nil {
		return m.err
	}
	postgres := m.ended.postgres - m.begun.postgres
	if events > 0 {
		s.cpu = (m.ended.server - m.begun.server + postgres).Seconds() / events
		s.cpuPostgres = postgres.Seconds() / events
	}
	s.stolen, s.others = m.ended.clock.Since(m.begun.clock, m.ended.self-m.begun.self)
	m.b.others = append(m.b.others, s.others)
	return nil
}

// sending says how to load a subject.
type sending struct {
	connections int
	measure     time.Duration
	// rate is in requests a second; 0 means as many as possible.
	rate float64
	// keep leaves the tables as they are before the run.
	keep bool
}

// load runs a subject once, kills it, and compares what it acknowledged with what its database holds.
func (b *bench) load(ctx context.Context, s *lab.Subject, how sending) (sample, error) {
	p, err := s.Start(ctx, !how.keep)
	if err != nil {
		return sample{}, err
	}
	defer p.Kill()
	m := &meter{b: b, pid: p.Pid}
	plan := load.Plan{
		Target: load.Target{Address: p.Public, Path: lab.Path, Secret: lab.Secret},
		Run:    b.lab.NextRun(), Connections: how.connections, Warmup: b.warmup, Measure: how.measure,
		Begin: m.begin, End: m.end,
	}
	var out sample
	if how.rate > 0 {
		out.result = load.Open(ctx, plan, how.rate)
	} else {
		out.result = load.Closed(ctx, plan)
	}
	out.rate = out.result.Rate
	if err := m.into(&out, float64(out.result.Latency.TotalCount())); err != nil {
		return out, err
	}
	for status, n := range out.result.Statuses {
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			return out, fmt.Errorf("%s: %d answers with status %d: %w: %s", s.Name, n, status, out.result.Failure, p.Log())
		}
	}
	// Killed, not stopped: what it acknowledged must be there all the same.
	p.Kill()
	return out, b.audit(ctx, s, out.result.Journal)
}

// refused is the part of the answers that told the sender to come again.
func (s sample) refused() float64 {
	refused := float64(s.result.Refusals.TotalCount())
	return refused / max(1, refused+float64(s.result.Latency.TotalCount()))
}

// audit fails if an acknowledged event is not in the database, or not all of it. An event whose sender was told to come
// again may be there: its commit's outcome was not known in time.
func (b *bench) audit(ctx context.Context, s *lab.Subject, journal *load.Journal) error {
	if !s.HasDatabase() {
		return ctx.Err()
	}
	held, err := s.EventIDs(ctx)
	if err != nil {
		return err
	}
	found, err := journal.Audit(held)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	if found.Lost > 0 {
		return fmt.Errorf("%s: of %d acknowledged events %d are lost", s.Name, found.Acknowledged, found.Lost)
	}
	return ctx.Err()
}

// pgbench runs a script once on empty tables.
func (b *bench) pgbench(ctx context.Context, s *lab.Subject, script pgbench.Script, rate float64, span time.Duration) (sample, error) {
	if err := s.Empty(ctx); err != nil {
		return sample{}, err
	}
	m := &meter{b: b}
	result, err := pgbench.Run(ctx, pgbench.Plan{
		Script: script, URL: s.URL, Clients: b.clients[script.Name], Warmup: b.warmup, Measure: span, Rate: rate,
		Begin: m.begin, End: m.end, Dir: b.lab.Dir,
	})
	if err != nil {
		return sample{}, err
	}
	out := sample{rate: result.Rate, pg: result}
	return out, m.into(&out, result.Rate*span.Seconds())
}
