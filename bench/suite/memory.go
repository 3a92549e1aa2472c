// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/load"
	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/bench/report"
)

const (
	// bodiesInFlight of largeBody bytes each are sent at once.
	bodiesInFlight = 1000
	largeBody      = 64 << 10
	// settle is how long processes are left alone before what they occupy is read.
	settle = 5 * time.Second
)

// memory compares what the receiver occupies with the least program, and with what it holds.
type memory struct {
	minimal, ours *lab.Subject
	found         []occupied
}

// occupied is what one round has found.
type occupied struct{ minimal, idle, busy measure.Memory }

func (s *memory) prepare(ctx context.Context, b *bench) (err error) {
	if s.minimal, err = b.lab.MinimalProgram(ctx); err != nil {
		return err
	}
	s.ours, err = b.ours(ctx)
	return err
}

func (s *memory) round(ctx context.Context, b *bench, _ int) error {
	minimal, err := s.minimal.Start(ctx, false)
	if err != nil {
		return err
	}
	defer minimal.Kill()
	ours, err := s.ours.Start(ctx, true)
	if err != nil {
		return err
	}
	defer ours.Kill()
	var found occupied
	if found.minimal, found.idle, err = b.idle(ctx, minimal, ours); err != nil {
		return err
	}
	minimal.Kill()
	if found.busy, err = b.busy(ctx, s.ours, ours); err != nil {
		return err
	}
	s.found = append(s.found, found)
	b.say("idle: %s, the least program %s; with bodies in flight %.1f MiB at most",
		found.idle, found.minimal, float64(found.busy.Peak)/mib)
	return nil
}

const mib = 1 << 20

func (s *memory) report(r *report.Report) {
	each := func(f func(occupied) float64) []float64 {
		values := make([]float64, len(s.found))
		for i, o := range s.found {
			values[i] = f(o)
		}
		return values
	}
	const bodies = bodiesInFlight * largeBody
	r.Goal("memory.idle", each(func(o occupied) float64 { return float64(o.idle.Resident) / float64(o.minimal.Resident) }), "<=", 1.5)
	r.Goal("memory.in_flight", each(func(o occupied) float64 { return float64(o.busy.Peak-o.idle.Resident) / bodies }), "<=", 1.5)
	for _, who := range []struct {
		name string
		of   func(occupied) measure.Memory
	}{
		{"ours", func(o occupied) measure.Memory { return o.idle }},
		{"minimal", func(o occupied) measure.Memory { return o.minimal }},
	} {
		for _, part := range []struct {
			name string
			of   func(measure.Memory) int64
		}{
			{"rss", func(m measure.Memory) int64 { return m.Resident }},
			{"anon", func(m measure.Memory) int64 { return m.Anonymous }},
			{"file", func(m measure.Memory) int64 { return m.File }},
		} {
			r.Figure("memory.idle_mib."+who.name+"."+part.name, each(func(o occupied) float64 { return float64(part.of(who.of(o))) / mib })...)
		}
	}
	r.Figure("memory.in_flight_mib.peak", each(func(o occupied) float64 { return float64(o.busy.Peak) / mib })...)
}

// idle is what two programs occupy a while after each has answered one request, and so has used what it needs for that.
func (b *bench) idle(ctx context.Context, first, second *lab.Process) (of, and measure.Memory, err error) {
	for _, p := range []*lab.Process{first, second} {
		_, err := load.Together(ctx, load.Target{Address: p.Public, Path: lab.Path, Secret: lab.Secret}, b.lab.NextRun(), 1)
		if err != nil {
			return of, and, fmt.Errorf("send a request: %w: %s", err, p.Log())
		}
	}
	if err := b.wait(ctx, settle); err != nil {
		return of, and, err
	}
	if of, err = measure.ReadMemory(first.Pid); err != nil {
		return of, and, err
	}
	and, err = measure.ReadMemory(second.Pid)
	return of, and, err
}

// busy is what the receiver occupies when many large bodies have come at once. All that it acknowledged must be there.
func (b *bench) busy(ctx context.Context, s *lab.Subject, p *lab.Process) (measure.Memory, error) {
	if err := s.Empty(ctx); err != nil {
		return measure.Memory{}, err
	}
	if err := measure.ResetPeak(p.Pid); err != nil {
		return measure.Memory{}, err
	}
	journal, err := load.Together(ctx, load.Target{
		Address: p.Public, Path: lab.Path, Secret: lab.Secret, BodyBytes: largeBody,
	}, b.lab.NextRun(), bodiesInFlight)
	if err != nil {
		return measure.Memory{}, fmt.Errorf("send bodies at once: %w: %s", err, p.Log())
	}
	busy, err := measure.ReadMemory(p.Pid)
	if err != nil {
		return measure.Memory{}, err
	}
	p.Kill()
	return busy, b.audit(ctx, s, journal)
}

func (b *bench) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
