// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/hookonce/hookonce/bench/lab"
)

const (
	// quietRate is that of an endpoint with little to do, in requests a second.
	quietRate = 100
	// latencyConnections of the load at a given rate.
	latencyConnections = 64
	// latencyClients of pgbench at a given rate.
	latencyClients = 32
)

// quantile in milliseconds.
func quantile(h *hdrhistogram.Histogram, percent float64) float64 {
	return float64(h.ValueAtQuantile(percent)) / float64(time.Millisecond)
}

func (b *bench) latency(ctx context.Context) error {
	tables, err := b.lab.Tables(ctx, "latency_limits")
	if err != nil {
		return err
	}
	ours, err := b.lab.Ours(ctx, "latency", false)
	if err != nil {
		return err
	}
	if err := b.findPeak(ctx, ours); err != nil {
		return err
	}
	for _, at := range []struct {
		name string
		rate float64
	}{{"at_100", quietRate}, {"at_half", b.peak / 2}} {
		if err := b.latencyAt(ctx, ours, tables, at.name, at.rate); err != nil {
			return err
		}
	}
	return b.overload(ctx, ours)
}

// findPeak measures the receiver's rate at saturation, if nobody has yet.
func (b *bench) findPeak(ctx context.Context, ours *lab.Subject) error {
	if b.peak > 0 {
		return nil
	}
	s, err := b.load(ctx, ours, sending{connections: connections[1], measure: b.measure})
	b.peak = s.rate
	b.say("at saturation: %.0f/s", s.rate)
	return err
}

// latencyAt compares the receiver with pgbench at the same rate.
func (b *bench) latencyAt(ctx context.Context, ours, tables *lab.Subject, name string, rate float64) error {
	b.clients[b.one.Name] = latencyClients
	empty := b.lab.Empty()
	rounds, err := b.interleave(ctx, []contestant{
		{"empty", func(ctx context.Context, _ int) (sample, error) {
			return b.load(ctx, empty, sending{connections: latencyConnections, measure: b.measure, rate: rate})
		}},
		{"ours", func(ctx context.Context, _ int) (sample, error) {
			return b.load(ctx, ours, sending{connections: latencyConnections, measure: b.measure, rate: rate})
		}},
		{"one", func(ctx context.Context, _ int) (sample, error) {
			return b.pgbench(ctx, tables, b.one, rate, b.measure)
		}},
	}, 1)
	if err != nil {
		return err
	}
	for _, q := range []struct {
		name    string
		percent float64
		goal    float64
	}{{"p50", 50, 1.3}, {"p99", 99, 2}} {
		b.report.Goal("latency."+q.name+"."+name, over(rounds, func(r round) float64 {
			return quantile(r["ours"].result.Latency, q.percent) / quantile(r["one"].pg.Latency, q.percent)
		}), "<=", q.goal)
		b.report.Figure("latency_ms."+q.name+"."+name+".ours", over(rounds, func(r round) float64 {
			return quantile(r["ours"].result.Latency, q.percent)
		})...)
		b.report.Figure("latency_ms."+q.name+"."+name+".pgbench", over(rounds, func(r round) float64 {
			return quantile(r["one"].pg.Latency, q.percent)
		})...)
		b.report.Figure("latency_ms."+q.name+"."+name+".empty", over(rounds, func(r round) float64 {
			return quantile(r["empty"].result.Latency, q.percent)
		})...)
	}
	return nil
}
