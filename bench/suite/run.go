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

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/load"
	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/bench/pgbench"
)

// sample is one run of one contestant.
type sample struct {
	// rate is in events a second, and span how long they were counted.
	rate float64
	span time.Duration
	// cpu is the processor time for each event, in seconds: all of it, and Postgres's part.
	cpu, cpuPostgres float64
	// latency of what was acknowledged, and refusals of what was told to come again, in nanoseconds; nil where nobody looked.
	latency, refusals *hdrhistogram.Histogram
	// stolen by the hypervisor, and used by others on this machine: parts of the processors' time.
	stolen, others float64
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
	// apart gives the senders a processor of their own, which the server and Postgres do not use.
	apart bool
}

// load runs a subject once, kills it, and compares what it acknowledged with what its database holds.
func (b *bench) load(ctx context.Context, s *lab.Subject, how sending) (_ sample, failed error) {
	p, err := s.Start(ctx, !how.keep)
	if err != nil {
		return sample{}, err
	}
	defer p.Kill()
	if how.apart {
		together, err := measure.Apart(os.Getpid(), p.Pid, b.lab.Postgres.Pid())
		if err != nil {
			return sample{}, err
		}
		defer func() { failed = errors.Join(failed, together()) }()
	}
	m := &meter{b: b, pid: p.Pid}
	plan := load.Plan{
		Target: load.Target{Address: p.Public, Path: lab.Path, Secret: lab.Secret},
		Run:    b.lab.NextRun(), Connections: how.connections, Warmup: b.warmup, Measure: how.measure,
		Begin: m.begin, End: m.end,
	}
	var result *load.Result
	if how.rate > 0 {
		result = load.Open(ctx, plan, how.rate)
	} else {
		result = load.Closed(ctx, plan)
	}
	if ctx.Err() != nil {
		return sample{}, ctx.Err()
	}
	out := sample{rate: result.Rate, span: how.measure, latency: result.Latency, refusals: result.Refusals}
	if err := m.into(&out, float64(result.Latency.TotalCount())); err != nil {
		return out, err
	}
	for status, n := range result.Statuses {
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			return out, fmt.Errorf("%s: %d answers with status %d: %w: %s", s.Name, n, status, result.Failure, p.Log())
		}
	}
	// Killed, not stopped: what it acknowledged must be there all the same.
	p.Kill()
	return out, b.audit(ctx, s, result.Journal)
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

// storing says how to run a script.
type storing struct {
	script  pgbench.Script
	clients int
	measure time.Duration
	// rate is in transactions a second; 0 means as many as possible.
	rate float64
}

// pgbench runs a script once on empty tables.
func (b *bench) pgbench(ctx context.Context, s *lab.Subject, how storing) (sample, error) {
	if err := s.Empty(ctx); err != nil {
		return sample{}, err
	}
	m := &meter{b: b}
	warmup := b.warmup
	if how.rate > 0 {
		// Its schedule begins before its clients are ready, and it works off at first what was due meanwhile.
		warmup += time.Second
	}
	result, err := pgbench.Run(ctx, pgbench.Plan{
		Script: how.script, URL: s.URL, Clients: how.clients, Warmup: warmup, Measure: how.measure, Rate: how.rate,
		Begin: m.begin, End: m.end, Dir: b.lab.Dir,
	})
	if err != nil {
		return sample{}, err
	}
	out := sample{rate: result.Rate, span: how.measure, latency: result.Latency}
	return out, m.into(&out, result.Rate*how.measure.Seconds())
}
