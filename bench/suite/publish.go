// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/bench/report"
)

// The least run that is worth a document: what is asked for, and how many rounds of that must have counted.
const (
	leastRounds  = 3
	leastCounted = 2
	leastMeasure = 3 * time.Second
)

// gather is what a reader must know besides the figures.
func (b *bench) gather(ctx context.Context) (report.Facts, error) {
	version, err := b.lab.ServerVersion(ctx)
	if err != nil {
		return report.Facts{}, err
	}
	_, err = os.Stat(filepath.Join(b.lab.Root, "cmd", "receiver", "default.pgo"))
	return report.Facts{
		Profile: err == nil,
		Date:    b.started.UTC().Format(time.DateOnly), Commit: b.commit(ctx), Machine: measure.Machine(),
		Go: runtime.Version(), Postgres: version,
		Pgx: moduleVersion("github.com/jackc/pgx/v5"), River: moduleVersion("github.com/riverqueue/river"),
		Command: fmt.Sprintf("make bench BENCH_ROUNDS=%d BENCH_SECONDS=%g", b.rounds, b.measure.Seconds()),
		Rounds:  b.rounds, Retained: b.retained, Apart: runtime.NumCPU() > 1,
	}, nil
}

// result is what the run has found until now.
func (b *bench) result() *report.Report {
	r := report.New(b.facts)
	for _, p := range b.parts {
		p.report(r)
	}
	r.Figure("machine.others", b.others...)
	micros := make([]float64, len(b.syncs))
	for i, s := range b.syncs {
		micros[i] = s * 1e6
	}
	r.Figure("machine.sync_us", micros...)
	r.Figure("machine.discarded_rounds", float64(b.discarded))
	r.Figure("machine.seconds", time.Since(b.started).Seconds())
	return r
}

// draft keeps what has been found until now, for whoever wants to look, and for when this is killed.
func (b *bench) draft() error {
	if err := os.MkdirAll(filepath.Dir(b.draftFile()), 0o755); err != nil {
		return fmt.Errorf("make a folder for the draft: %w", err)
	}
	return b.result().Write(b.draftFile())
}

func (b *bench) draftFile() string { return filepath.Join(b.lab.Root, "bin", "performance.md") }

// publish writes the document, if that is asked for and all was measured for long enough.
func (b *bench) publish(found *report.Report) error {
	if b.document == "" {
		return nil
	}
	if b.only != "" || b.environment != "" || b.rounds < leastRounds || b.measure < leastMeasure {
		b.say("%s is not written: that takes all sections, %d rounds and %s for each measurement", b.document, leastRounds, leastMeasure)
		return nil
	}
	if short := found.Short(leastCounted); len(short) > 0 {
		return fmt.Errorf("%s is not written: fewer than %d rounds counted for %s; what there is, is in %s",
			b.document, leastCounted, strings.Join(short, ", "), b.draftFile())
	}
	return found.Write(b.document)
}

// commit is what was measured, as git names it; unknown outside of a repository. What a run writes makes it no other.
func (b *bench) commit(ctx context.Context) string {
	git := func(args ...string) (string, error) {
		output, err := exec.CommandContext(ctx, "git", append([]string{"-C", b.lab.Root}, args...)...).Output()
		return strings.TrimSpace(string(output)), err
	}
	commit, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "unknown"
	}
	changed, err := git("status", "--porcelain", "--", ".", ":!docs/performance.md", ":!docs/performance.json")
	if err != nil || changed != "" {
		commit += ", with changes"
	}
	return commit
}

func moduleVersion(path string) string {
	info, read := debug.ReadBuildInfo()
	if !read {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}
