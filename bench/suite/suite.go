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
	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/bench/pgbench"
	"github.com/hookonce/hookonce/bench/report"
)

// options of a run.
type options struct {
	rounds         int
	measure        time.Duration
	warmup         time.Duration
	budget         time.Duration
	pause          time.Duration
	retained       int
	maxSteal       float64
	maxOthers      float64
	strict         bool
	only, document string
	root           string
	environment    string
}

// section is a part of a run. Every section has a round before any has its second, so that a run that ends early has
// something to say of each, and so that each sees the machine at different times.
type section interface {
	prepare(ctx context.Context, b *bench) error
	round(ctx context.Context, b *bench, i int) error
	report(r *report.Report)
}

// The sections of a run, in their order.
var sections = []struct {
	name string
	make func() section
}{
	{"ingest", func() section { return &ingest{} }},
	{"peers", func() section { return &peers{} }},
	{"effect", func() section { return &effect{} }},
	{"latency", func() section { return &latency{} }},
	{"overload", func() section { return &overload{} }},
	{"growth", func() section { return &growth{} }},
	{"memory", func() section { return &memory{} }},
}

// bench is one run of the benchmark.
type bench struct {
	options
	started time.Time
	lab     *lab.Lab
	log     io.Writer
	facts   report.Facts
	parts   []*part
	// sql are the ledger's statements.
	sql fs.FS
	// peak is the receiver's rate at saturation, and peakSingle that of pgbench with one event in a transaction, in the round
	// that is being made; 0 until they are known.
	peak, peakSingle float64
	// others are the parts of the processors' time that went elsewhere, one for each turn, and syncs how long the disk took for
	// one in seconds, one for each round.
	others, syncs []float64
	// discarded rounds.
	discarded int

	one, fifty, effect pgbench.Script
	// clients of pgbench with which each script is fastest.
	clients map[string]int
	// What several sections use, when the first of them has made it.
	tables    *lab.Subject
	receivers struct{ ours, control *lab.Subject }
}

// Main runs the benchmark. See docs/performance.md.
func Main(ctx context.Context, args []string) error {
	o := options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 3, "how often everything is measured")
	flags.DurationVar(&o.measure, "measure", 3*time.Second, "how long each thing is measured in a round")
	flags.DurationVar(&o.warmup, "warmup", time.Second, "how long each thing runs before it is measured")
	flags.DurationVar(&o.budget, "budget", 11*time.Minute, "how long all may take: rounds that would take longer are left out")
	flags.IntVar(&o.retained, "retained", 1_000_000, "how many claims are there for growth")
	flags.Float64Var(&o.maxSteal, "max-steal", 0.05, "part of the time stolen by the hypervisor from which a round is discarded")
	flags.Float64Var(&o.maxOthers, "max-others", 0.2, "part of the time spent on other programs from which a round is discarded")
	flags.DurationVar(&o.pause, "pause", 5*time.Second, "how long to wait when a round was discarded")
	flags.BoolVar(&o.strict, "strict", false, "fail if a goal is missed")
	flags.StringVar(&o.only, "only", "", "sections to run, separated by commas (default all: "+strings.Join(names(), ",")+")")
	flags.StringVar(&o.document, "document", "", "document to write; only after a whole run, long enough to say something")
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
	b := &bench{options: o, started: time.Now(), log: os.Stderr, clients: map[string]int{}}
	return b.run(ctx)
}

func names() []string {
	all := make([]string, len(sections))
	for i, s := range sections {
		all[i] = s.name
	}
	return all
}

func (o *options) check() error {
	if o.rounds < 1 || o.measure < time.Second || o.warmup < 0 || o.retained < 1 {
		return errors.New("--rounds and --retained must be positive, --measure at least 1s, --warmup not negative")
	}
	for name := range strings.SplitSeq(o.only, ",") {
		if name != "" && !slices.Contains(names(), name) {
			return fmt.Errorf("there is no section %s", name)
		}
	}
	return nil
}

// slack is how much longer than its budget a run may take until it is ended, whatever it is doing.
const slack = 30 * time.Second

func (b *bench) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.budget+slack, fmt.Errorf("not done within %s", b.budget+slack))
	defer cancel()
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.lab.Close()) }()
	err = b.measureAll(ctx)
	if ctx.Err() != nil {
		err = fmt.Errorf("ended early: %w", context.Cause(ctx))
	}
	// What was found until then is worth reading, whatever has ended it.
	found := b.result()
	found.Print(os.Stdout)
	if err != nil {
		return err
	}
	if err := b.publish(found); err != nil {
		return err
	}
	if missed := found.Missed(); len(missed) > 0 && b.strict {
		return fmt.Errorf("goals missed: %s", strings.Join(missed, ", "))
	}
	return nil
}

// part is a section of this run.
type part struct {
	name string
	section
	// took is how long its longest round took.
	took time.Duration
}

func (b *bench) measureAll(ctx context.Context) error {
	for _, s := range sections {
		if b.only == "" || slices.Contains(strings.Split(b.only, ","), s.name) {
			b.parts = append(b.parts, &part{name: s.name, section: s.make()})
		}
	}
	for _, p := range b.parts {
		b.say("preparing %s", p.name)
		if err := p.prepare(ctx, b); err != nil {
			return fmt.Errorf("prepare %s: %w", p.name, err)
		}
	}
	for i := range b.rounds {
		if err := b.oneRound(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// oneRound has each section make a round, unless that would take longer than there is time.
func (b *bench) oneRound(ctx context.Context, i int) error {
	b.peak, b.peakSingle = 0, 0
	sync, err := measure.Sync(b.lab.Dir)
	if err != nil {
		return err
	}
	b.syncs = append(b.syncs, sync.Seconds())
	for _, p := range b.parts {
		if left := b.budget - time.Since(b.started); p.took > left {
			b.say("round %d of %s is left out: it takes %s, and %s are left", i+1, p.name, p.took.Round(time.Second), left.Round(time.Second))
			continue
		}
		began := time.Now()
		b.say("round %d of %d: %s", i+1, b.rounds, p.name)
		if err := p.round(ctx, b, i); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		p.took = max(p.took, time.Since(began))
		if err := b.draft(); err != nil {
			return err
		}
	}
	return nil
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
	if err == nil {
		b.facts, err = b.gather(ctx)
	}
	if err != nil {
		return errors.Join(err, b.lab.Close())
	}
	return nil
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
