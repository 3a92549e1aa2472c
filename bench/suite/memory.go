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
)

const (
	// bodiesInFlight of largeBody bytes each are sent at once.
	bodiesInFlight = 1000
	largeBody      = 64 << 10
	// settle is how long a process is left alone before what it occupies is read.
	settle = 5 * time.Second
)

// memory compares what the receiver occupies with the least program, and with what it holds.
func (b *bench) memory(ctx context.Context) error {
	minimal, err := b.lab.MinimalProgram(ctx)
	if err != nil {
		return err
	}
	ours, err := b.lab.Ours(ctx, "memory", false)
	if err != nil {
		return err
	}
	least, err := b.least(ctx, minimal)
	if err != nil {
		return err
	}
	p, err := ours.Start(ctx, true)
	if err != nil {
		return err
	}
	defer p.Kill()
	idle, err := b.idle(ctx, p)
	if err != nil {
		return err
	}
	const mib = 1 << 20
	b.report.Goal("memory.idle", []float64{float64(idle.Resident) / float64(least.Resident)}, "<=", 1.5)
	b.report.Figure("memory_mib.idle.minimal", float64(least.Resident)/mib)
	b.report.Figure("memory_mib.idle.ours", float64(idle.Resident)/mib)
	if err := ours.Empty(ctx); err != nil {
		return err
	}
	if err := measure.ResetPeak(p.Pid); err != nil {
		return err
	}
	journal, err := load.Together(ctx, load.Target{
		Address: p.Public, Path: lab.Path, Secret: lab.Secret, BodyBytes: largeBody,
	}, b.lab.NextRun(), bodiesInFlight)
	if err != nil {
		return fmt.Errorf("send bodies at once: %w: %s", err, p.Log())
	}
	busy, err := measure.ReadMemory(p.Pid)
	if err != nil {
		return err
	}
	p.Kill()
	if err := b.audit(ctx, ours, journal); err != nil {
		return err
	}
	bodies := float64(bodiesInFlight * largeBody)
	b.report.Goal("memory.in_flight", []float64{float64(busy.Peak-idle.Resident) / bodies}, "<=", 1.5)
	b.report.Figure("memory_mib.in_flight.peak", float64(busy.Peak)/mib)
	return nil
}

// least is what the least program occupies while idle.
func (b *bench) least(ctx context.Context, s *lab.Subject) (measure.Memory, error) {
	p, err := s.Start(ctx, false)
	if err != nil {
		return measure.Memory{}, err
	}
	defer p.Kill()
	return b.idle(ctx, p)
}

// idle is what a program occupies a while after it has answered one request, and so has used what it needs for that.
func (b *bench) idle(ctx context.Context, p *lab.Process) (measure.Memory, error) {
	_, err := load.Together(ctx, load.Target{Address: p.Public, Path: lab.Path, Secret: lab.Secret}, b.lab.NextRun(), 1)
	if err != nil {
		return measure.Memory{}, fmt.Errorf("send a request: %w: %s", err, p.Log())
	}
	if err := b.wait(ctx, settle); err != nil {
		return measure.Memory{}, err
	}
	return measure.ReadMemory(p.Pid)
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
