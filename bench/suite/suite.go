// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package suite is what is measured, and in which order.
package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/pgbench"
	"github.com/hookonce/hookonce/bench/report"
)

// options of a run.
type options struct {
	rounds         int
	measure        time.Duration
	warmup         time.Duration
	retained       int
	maxSteal       float64
	maxOthers      float64
	strict         bool
	only, document string
	root           string
	environment    string
}

// The sections of a run, in their order.
var sections = []struct {
	name string
	run  func(*bench, context.Context) error
}{
	{"ingest", (*bench).ingest},
	{"latency", (*bench).latency},
	{"growth", (*bench).growth},
	{"memory", (*bench).memory},
}

// bench is one run of the benchmark.
type bench struct {
	options
	lab    *lab.Lab
	log    io.Writer
	report *report.Report
	// sql are the ledger's statements.
	sql fs.FS
	// peak is the receiver's rate at saturation.
	peak float64
	// others are the parts of the processors' time that went elsewhere, one for each run.
	others []float64
	// discarded rounds.
	discarded int

	one, fifty, effect pgbench.Script
	// clients of pgbench with which each script is fastest.
	clients map[string]int
}

// Main runs the benchmark. See docs/performance.md.
func Main(ctx context.Context, args []string) error {
	o := options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "how often everything is measured")
	flags.DurationVar(&o.measure, "measure", 3*time.Second, "how long each thing is measured in a round")
	flags.DurationVar(&o.warmup, "warmup", 700*time.Millisecond, "how long each thing runs before it is measured")
	flags.IntVar(&o.retained, "retained", 1_000_000, "how many claims are there for growth")
	flags.Float64Var(&o.maxSteal, "max-steal", 0.05, "part of the time stolen by the hypervisor from which a round is discarded")
	flags.Float64Var(&o.maxOthers, "max-others", 0.2, "part of the time spent on other programs from which a round is discarded")
	flags.BoolVar(&o.strict, "strict", false, "fail if a goal is missed")
	flags.StringVar(&o.only, "only", "", "sections to run, separated by commas (default all: ingest,latency,growth,memory)")
	flags.StringVar(&o.document, "document", "", "file to write the table to; only after a whole run, long enough to say something")
	flags.StringVar(&o.environment, "receiver-env", "", "environment of the receiver for trials, such as GOGC=200,GOMEMLIMIT=100MiB")
	flags.StringVar(&o.root, "root", "..", "the repository")
	if len(args) > 0 && args[0] == "profile" {
		return profile(ctx, args[1:])
	}
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	if err := o.check(); err != nil {
		return err
	}
	b := &bench{options: o, log: os.Stderr, report: report.New(os.Stdout), clients: map[string]int{}}
	if err := b.run(ctx); err != nil {
		return err
	}
	if missed := b.report.Missed(); len(missed) > 0 && o.strict {
		return fmt.Errorf("goals missed: %s", strings.Join(missed, ", "))
	}
	return nil
}

func (o *options) check() error {
	if o.rounds < 1 || o.measure < time.Second || o.warmup < 0 || o.retained < 1 {
		return errors.New("--rounds and --retained must be positive, --measure at least 1s, --warmup not negative")
	}
	for name := range strings.SplitSeq(o.only, ",") {
		known := slices.ContainsFunc(sections, func(s struct {
			name string
			run  func(*bench, context.Context) error
		},
		) bool {
			return s.name == name
		})
		if name != "" && !known {
			return fmt.Errorf("there is no section %s", name)
		}
	}
	return nil
}

func (b *bench) run(ctx context.Context) (err error) {
	started := time.Now()
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.lab.Close()) }()
	for _, s := range sections {
		if b.only != "" && !slices.Contains(strings.Split(b.only, ","), s.name) {
			continue
		}
		b.say("%s", s.name)
		if err := s.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	b.report.Figure("machine.others", b.others...)
	b.report.Figure("machine.discarded_rounds", float64(b.discarded))
	b.report.Figure("machine.seconds", time.Since(started).Seconds())
	return b.publish(ctx, started)
}

func (b *bench) open(ctx context.Context) error {
	var err error
	if b.lab, err = lab.Open(ctx, b.root, b.log); err != nil {
		return err
	}
	if b.environment != "" {
		b.lab.Environment = strings.Split(b.environment, ",")
	}
	b.sql = os.DirFS(filepath.Join(b.lab.Root, "receiver", "ledger", "sql"))
	if b.one, err = pgbench.One(b.sql); err == nil {
		if b.fifty, err = pgbench.Fifty(b.sql); err == nil {
			b.effect, err = pgbench.WithEffect(b.sql, lab.Effect)
		}
	}
	if err != nil {
		return errors.Join(err, b.lab.Close())
	}
	return nil
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
