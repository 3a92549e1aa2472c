// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/bench/report"
)

// The least run that is worth a document.
const (
	leastRounds  = 3
	leastMeasure = 3 * time.Second
)

// publish writes the document, if that is asked for and all was measured for long enough.
func (b *bench) publish(ctx context.Context, started time.Time) error {
	if b.document == "" {
		return nil
	}
	if b.only != "" || b.environment != "" || b.rounds < leastRounds || b.measure < leastMeasure {
		b.say("%s is not written: that takes all sections, %d rounds and %s for each measurement", b.document, leastRounds, leastMeasure)
		return nil
	}
	version, err := b.lab.ServerVersion(ctx)
	if err != nil {
		return err
	}
	return b.report.Write(b.document, report.Facts{
		Date: started.UTC().Format(time.DateOnly), Commit: b.commit(ctx), Machine: measure.Machine(), Postgres: version,
		River:   moduleVersion("github.com/riverqueue/river"),
		Command: fmt.Sprintf("make bench BENCH_ROUNDS=%d BENCH_SECONDS=%g", b.rounds, b.measure.Seconds()),
	})
}

// commit is what was measured, as git names it; unknown outside of a repository.
func (b *bench) commit(ctx context.Context) string {
	output, err := exec.CommandContext(ctx, "git", "-C", b.root, "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(output))
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
