// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/load"
	"github.com/hookonce/hookonce/bench/report"
)

func TestBaselinesRunDirectlyBeforeAndAfter(t *testing.T) {
	named := func(name string) contestant { return contestant{name: name} }
	var order []string
	for _, c := range around([]contestant{named("a"), named("b")}, named("x"), named("y"), named("x")) {
		order = append(order, c.name)
	}
	if got := strings.Join(order, " "); got != "a b x y x b a" {
		t.Errorf("got %s", got)
	}
}

// TestASteadyTrendFavorsNobody: the machine becomes slower with each turn, and ratios of equals are 1 all the same.
func TestASteadyTrendFavorsNobody(t *testing.T) {
	b := &bench{log: io.Discard}
	speed := 1000.0
	run := func(name string) contestant {
		return contestant{name, func(context.Context, int) (sample, error) {
			speed -= 50
			return sample{rate: speed, span: time.Second}, nil
		}}
	}
	r, fault, err := b.take(t.Context(), 0, around([]contestant{run("a"), run("b")}, run("x"), run("control"), run("x")))
	if err != nil || fault != "" {
		t.Fatal(fault, err)
	}
	for _, pair := range [][2]string{{"x", "a"}, {"x", "b"}, {"control", "x"}} {
		if got := r[pair[0]].rate() / r[pair[1]].rate(); math.Abs(got-1) > 1e-9 {
			t.Errorf("%s against %s is %g", pair[0], pair[1], got)
		}
	}
}

func TestADisturbedRoundIsBegunAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget time.Duration
		// others in each turn; a round has two.
		others            []float64
		counted, discards int
	}{
		{"quiet", time.Hour, []float64{0.1, 0.1}, 1, 0},
		{"disturbed in its first turn", time.Hour, []float64{0.5, 0.1, 0.1}, 1, 1},
		{"disturbed in its second turn", time.Hour, []float64{0.1, 0.5, 0.1, 0.1}, 1, 1},
		{"disturbed always", time.Hour, []float64{0.5, 0.5, 0.5, 0.5}, 0, 4},
		{"disturbed when there is no time left", 0, []float64{0.5}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{log: io.Discard, started: time.Now(), options: options{maxOthers: 0.2, maxSteal: 0.05, budget: c.budget}}
			turn := 0
			var rounds []round
			x := contestant{"x", func(context.Context, int) (sample, error) {
				s := sample{rate: 1, others: c.others[turn]}
				turn++
				return s, nil
			}}
			err := b.add(t.Context(), &rounds, 0, []contestant{x, x})
			if err != nil || len(rounds) != c.counted || b.discarded != c.discards || turn != len(c.others) {
				t.Errorf("%d counted, %d discarded, %d turns, %v", len(rounds), b.discarded, turn, err)
			}
		})
	}
}

func TestWhatTurnsSayTogether(t *testing.T) {
	fast, slow := load.NewHistogram(), load.NewHistogram()
	for range 99 {
		if err := fast.RecordValue(int64(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	if err := slow.RecordValue(int64(time.Second)); err != nil {
		t.Fatal(err)
	}
	both := turns{{rate: 300, cpu: 1, latency: fast, refusals: slow}, {rate: 100, cpu: 5, latency: slow}}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"rate", both.rate(), 200},
		{"cpu for each event", both.cpu(), 2},
		{"median", both.quantile(50), 1},
		{"most", both.quantile(100), 1000},
		{"refused", both.refused(), 1.0 / 101},
	} {
		if math.Abs(c.got-c.want) > c.want/1000 {
			t.Errorf("%s: got %g, want %g", c.name, c.got, c.want)
		}
	}
}

// TestHoldingARate: chance explains a little, and more of it where there are few requests.
func TestHoldingARate(t *testing.T) {
	for _, c := range []struct {
		name string
		rate float64
		span time.Duration
		did  float64
		want bool
	}{
		{"all of it", 5000, 2 * time.Second, 5010, true},
		{"a little less", 5000, 2 * time.Second, 4850, true},
		{"behind", 5000, 2 * time.Second, 4500, false},
		{"making up for what was due before", 5000, 2 * time.Second, 5500, false},
		{"few requests, by chance", 100, 3 * time.Second, 80, true},
		{"few requests, not by chance", 100, 3 * time.Second, 60, false},
	} {
		if got := (turns{{rate: c.rate, span: c.span}, {rate: c.did, span: c.span}}).hold(c.rate); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}

func testBench(t *testing.T) *bench {
	t.Helper()
	return &bench{log: io.Discard, started: time.Now(), lab: &lab.Lab{Dir: t.TempDir(), Root: t.TempDir()}}
}

// fake is a section that takes as long as it is told to.
type fake struct {
	rounds int
	err    error
}

func (f *fake) prepare(context.Context, *bench) error { return nil }

func (f *fake) round(context.Context, *bench, int) error {
	f.rounds++
	return f.err
}

func (f *fake) report(r *report.Report) { r.Figure("fake.rounds", float64(f.rounds)) }

func TestARoundForWhichThereIsNoTimeIsLeftOut(t *testing.T) {
	short, long := &fake{}, &fake{}
	b := testBench(t)
	b.budget = time.Hour
	b.parts = []*part{{name: "short", section: short}, {name: "long", section: long, took: 2 * time.Hour}}
	if err := b.oneRound(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if short.rounds != 1 || long.rounds != 0 {
		t.Errorf("%d and %d rounds", short.rounds, long.rounds)
	}
}

// TestWhatWasFoundUntilNowIsKept when a run ends early.
func TestWhatWasFoundUntilNowIsKept(t *testing.T) {
	first, second := &fake{}, &fake{err: errors.New("ended")}
	b := testBench(t)
	b.budget = time.Hour
	b.parts = []*part{{name: "first", section: first}, {name: "second", section: second}}
	if err := b.oneRound(t.Context(), 0); !errors.Is(err, second.err) {
		t.Fatal(err)
	}
	kept, err := report.Read(b.draftFile())
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	kept.Print(&lines)
	if !strings.Contains(lines.String(), "fake.rounds 1 - - -\n") {
		t.Errorf("kept:\n%s", lines.String())
	}
}
