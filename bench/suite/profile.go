// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/load"
)

// profile loads the receiver's handler and ledger inside a program of ours and writes where time and memory go.
func profile(ctx context.Context, args []string) error {
	var (
		root, prefix string
		span         time.Duration
		withEffect   bool
		senders      int
	)
	flags := flag.NewFlagSet("bench profile", flag.ContinueOnError)
	flags.StringVar(&root, "root", "..", "the repository")
	flags.StringVar(&prefix, "out", filepath.Join(os.TempDir(), "hookonce-profile"), "prefix of the files to write")
	flags.DurationVar(&span, "measure", 10*time.Second, "how long to load it")
	flags.BoolVar(&withEffect, "effect", false, "with an effect")
	flags.IntVar(&senders, "connections", 128, "connections of the load")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	l, err := lab.Open(ctx, root, os.Stderr)
	if err != nil {
		return err
	}
	return errors.Join(profileIn(ctx, l, withEffect, prefix, senders, span), l.Close())
}

func profileIn(ctx context.Context, l *lab.Lab, withEffect bool, prefix string, senders int, span time.Duration) error {
	s, err := l.Embedded(ctx, "embedded", withEffect, prefix)
	if err != nil {
		return err
	}
	p, err := s.Start(ctx, true)
	if err != nil {
		return err
	}
	defer p.Kill()
	result := load.Closed(ctx, load.Plan{
		Target: load.Target{Address: p.Public, Path: lab.Path, Secret: lab.Secret},
		Run:    l.NextRun(), Connections: senders, Measure: span,
	})
	p.Stop()
	fmt.Printf("rate %.0f/s, answers %v, p50 %.2f ms, p99 %.2f ms\n", result.Rate, result.Statuses,
		quantile(result.Latency, 50), quantile(result.Latency, 99))
	fmt.Printf("%s\n", p.Log())
	for _, top := range [][]string{
		{"-top", "-nodecount=40", prefix + ".cpu"},
		{"-top", "-cum", "-nodecount=60", prefix + ".cpu"},
		{"-top", "-nodecount=25", "-sample_index=alloc_objects", prefix + ".allocs"},
	} {
		if err := pprof(ctx, os.Stdout, top...); err != nil {
			return err
		}
	}
	return nil
}

func pprof(ctx context.Context, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go tool pprof: %w", err)
	}
	return nil
}
