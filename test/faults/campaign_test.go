// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/test/faults/cutter"
	"github.com/hookonce/hookonce/test/faults/history"
	"github.com/hookonce/hookonce/test/faults/plan"
)

// campaign is one run: what is sent, and what goes wrong meanwhile.
type campaign struct {
	seed       uint64
	deliveries int
	nodes      int
	senders    int
	// cutShare of the commits of claims are cut, until each point has had cutsPerPoint; allCuts says that it is a failure if
	// the plan ends before.
	cutShare     float64
	cutsPerPoint int
	allCuts      bool
	faults       schedule
	// exact says that nothing goes wrong, so that the counters must be exact.
	exact bool
}

const (
	// drainTime is for what is in the outbox at the end: leases of receivers that were killed run out after 30 s.
	drainTime = 2 * time.Minute
	// reportEvery is how often the run says how far it is.
	reportEvery = 10 * time.Second
)

// run plays the campaign and judges it.
func (c campaign) run(t *testing.T) {
	t.Helper()
	started := time.Now()
	cuts := cutter.NewCuts(c.seed, c.cutShare, c.cutsPerPoint)
	w := newWorld(t, c.seed, c.nodes, cuts)
	p := plan.New(c.seed, c.deliveries, c.nodes)
	s := newSenders(w, p, c.senders)
	n := &nemesis{w: w, seed: c.seed}
	fmt.Printf("faults: %s: %d deliveries, seed %d (FAULTS_SEED=%d replays the plan), world up after %.1f s\n",
		t.Name(), c.deliveries, c.seed, c.seed, time.Since(started).Seconds())

	suffering, heal := context.WithCancel(t.Context())
	defer heal()
	suffered := make(chan struct{})
	go func() {
		defer close(suffered)
		n.run(suffering, c.faults)
	}()
	stopTelling := c.tell(t.Context(), s, n, cuts)
	sending := time.Now()
	s.run(t.Context(), c.senders)
	sent := time.Since(sending)
	heal()
	<-suffered
	cuts.Heal()
	stopTelling()
	w.drain(t)
	for _, node := range w.nodes {
		if err := node.stop(); err != nil {
			t.Errorf("stop node %d: %v", node.number, err)
		}
	}
	c.judge(t, w, s, n, sent)
}

// tell prints how far the run is until it is stopped.
func (c campaign) tell(ctx context.Context, s *senders, n *nemesis, cuts *cutter.Cuts) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		for rest(ctx, reportEvery) {
			made, _ := cuts.Made()
			fmt.Printf("faults: %d requests, %d acknowledged, %d answered 503, %d unanswered; %d kills, %d crashes, cuts %v\n",
				s.sent.Load(), s.accepted.Load(), s.busy.Load(), s.unanswered.Load(), n.kills.Load(), n.crashes.Load(), made)
		}
	}()
	return stop
}

// drain waits until the outbox is empty. If it does not empty, the judge says what is left.
func (w *world) drain(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(drainTime)
	for w.unfinished(t.Context()) != 0 && time.Now().Before(deadline) {
		rest(t.Context(), 500*time.Millisecond)
	}
}

func (c campaign) judge(t *testing.T, w *world, s *senders, n *nemesis, sent time.Duration) {
	t.Helper()
	h := &history.History{
		Expect: s.expect, Attempts: s.attempts, Arrivals: w.sink.seen(),
		// Of what got no answer in time, only the ledger knows how it was counted.
		CountersExact: c.exact && s.unanswered.Load() == 0,
	}
	for i, e := range w.endpoints {
		h.Endpoints = append(h.Endpoints, history.Endpoint{Name: e.name, BodyClaimed: i == plan.Repo})
	}
	must(t, w.readLedger(context.Background(), h))
	report := history.Check(h)
	fmt.Print(c.summary(t, w, s, n, h, report, sent))
	for _, v := range report.Violations {
		t.Errorf("seed %d: %s", c.seed, v)
	}
	if report.Total() > 0 {
		t.Errorf("seed %d: violations by kind: %v", c.seed, report.Count)
	}
	if abandoned := s.abandoned.Load(); abandoned > 0 {
		t.Errorf("seed %d: %d deliveries were not answered within %s", c.seed, abandoned, giveUp)
	}
	if c.allCuts && !w.cuts.Complete() {
		made, passed := w.cuts.Made()
		t.Errorf("seed %d: cuts %v, want %d at each point; %d commits passed", c.seed, made, c.cutsPerPoint, passed)
	}
}

// summary is the table at the end.
func (c campaign) summary(
	t *testing.T, w *world, s *senders, n *nemesis, h *history.History, report *history.Report, sent time.Duration,
) string {
	made, passed := w.cuts.Made()
	counts := s.plan.Counts()
	calls, refused := w.sink.count()
	var out strings.Builder
	row := func(name string, value any) { fmt.Fprintf(&out, "  %-34s %v\n", name, value) }
	fmt.Fprintf(&out, "faults: %s, seed %d\n", t.Name(), c.seed)
	row("deliveries", counts.Deliveries)
	row("seconds, deliveries/s", fmt.Sprintf("%.0f, %.0f", sent.Seconds(), float64(counts.Deliveries)/sent.Seconds()))
	row("distinct events", counts.Events)
	row("duplicates (concurrent, later)", fmt.Sprintf("%d (%d, %d)", counts.Concurrent+counts.Later, counts.Concurrent, counts.Later))
	row("conflicts sent", counts.Conflicts)
	row("requests, retries included", s.sent.Load())
	row("answered 2xx, 422, 503", fmt.Sprintf("%d, %d, %d", s.accepted.Load(), s.conflicts.Load(), s.busy.Load()))
	row("unanswered", s.unanswered.Load())
	row("never acknowledged (of them stored)", fmt.Sprintf("%d (%d)", report.Unacknowledged, report.Whole))
	row("kills of a node (receivers)", fmt.Sprintf("%d (%d)", n.kills.Load(), n.kills.Load()*plan.Endpoints))
	row("immediate stops of Postgres", n.crashes.Load())
	row("pauses, toxics, partitions, prunes", fmt.Sprintf("%d, %d, %d, %d",
		n.pauses.Load(), n.toxics.Load(), n.parts.Load(), n.prunes.Load()))
	for p := range cutter.Points {
		row("cuts "+cutter.Point(p).String(), made[p])
	}
	row("commits of claims not cut", passed)
	row("events, claims in the ledger", fmt.Sprintf("%d, %d", len(h.Events), len(h.Claims)))
	row("effects booked", len(h.Effects))
	row("calls of destinations (refused)", fmt.Sprintf("%d (%d)", calls, refused))
	row("acknowledged and lost", report.Total(history.Lost))
	row("double effects", report.Total(history.DoubleEffect, history.DoubleClaim))
	row("differing answers for one id", report.Total(history.DifferingAnswers))
	row("other violations", report.Total()-report.Total(history.Lost, history.DoubleEffect, history.DoubleClaim, history.DifferingAnswers))
	return out.String()
}
