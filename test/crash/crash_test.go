// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

// Package crash lets the operator crash before and after every write of every transition of a rotation, and lets each of
// these writes go wrong in other ways: each time all must end as it does without a fault.
//
// The real controllers and the real client are in it; between them and a real API server is a transport that fails on
// demand. Receivers and clock are the test's. One life of an endpoint goes through all transitions; it is recorded without a
// fault, and then lived again and again, with one fault in each transition, until each write has met each fault.
package crash

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/internal/controlplane"
)

const (
	// outage is how much later it is when a fault is over: a deadline that is counted anew is another one.
	outage = time.Minute
	// provisional is for how long a secret stays accepted at least when another one becomes current.
	provisional = 50 * time.Minute
	// together is how many lives go on at the same time. They wait more than they work.
	together = "6"
)

// epoch is when each life begins, by its own clock.
var epoch = time.Now().UTC().Truncate(time.Second)

// server is the API server of these tests.
var server *rest.Config

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	flag.Parse()
	if err := flag.Set("test.parallel", together); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(controlplane.Main(m, func(config *rest.Config) { server = config }))
}

func TestEveryWriteOfARotation(t *testing.T) {
	steps, w := life(), newWorld(t)
	at := clocks(steps)
	var recorded [2][]outcome
	t.Run("recorded", func(t *testing.T) {
		for i := range recorded {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				recorded[i] = recordLife(t, w, steps, at)
			})
		}
	})
	if t.Failed() {
		return
	}
	for i := range steps {
		if found := differences(recorded[0][i].picture, recorded[1][i].picture); len(found) > 0 {
			t.Fatalf("%s: two runs without a fault differ:\n%s", steps[i].name, strings.Join(found, "\n"))
		}
	}
	m := newMatrix(steps, recorded[0])
	t.Run("lives", func(t *testing.T) {
		for i := range m.lives() {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				m.live(t, w, i, at)
			})
		}
	})
	m.report(t)
}

func recordLife(t *testing.T, w *world, steps []step, at []time.Time) []outcome {
	r := newRun(t, w)
	out := make([]outcome, len(steps))
	for i, step := range steps {
		var err error
		if out[i], err = r.record(step, at[i]); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
	}
	return out
}

// matrix is every write of every step, and every way in which it can go wrong.
type matrix struct {
	steps    []step
	recorded []outcome
	points   [][]point

	mu sync.Mutex
	// met and unmet are the faults of each step that happened, and that did not.
	met, unmet []map[point]bool
	failed     int
}

func newMatrix(steps []step, recorded []outcome) *matrix {
	m := &matrix{steps: steps, recorded: recorded}
	for _, seen := range recorded {
		var points []point
		count := map[write]int{}
		for _, w := range seen.writes {
			count[w]++
			for _, mode := range modes {
				// Whether an event is told is a matter of luck: what its failure means to the operator is the same each time.
				if w.resource != events || mode.crashes() {
					points = append(points, point{mode, w, count[w]})
				}
			}
		}
		m.points = append(m.points, points)
		m.met, m.unmet = append(m.met, map[point]bool{}), append(m.unmet, map[point]bool{})
	}
	return m
}

// lives is how many lives it takes until each step has had each of its faults.
func (m *matrix) lives() int {
	most := 0
	for _, points := range m.points {
		most = max(most, len(points))
	}
	return most
}

// live is one life, with the fault of that number in each step that has as many.
func (m *matrix) live(t *testing.T, w *world, number int, at []time.Time) {
	last := 0
	for i := range m.steps {
		if number < len(m.points[i]) {
			last = i
		}
	}
	if m.hopeless() {
		return
	}
	r := newRun(t, w)
	for i, step := range m.steps[:last+1] {
		var fault *point
		what := "without a fault"
		if number < len(m.points[i]) {
			fault = &m.points[i][number]
			what = fault.String()
		}
		seen, err := r.suffer(step, at[i], fault, m.recorded[i])
		if fault != nil {
			m.note(i, *fault, seen.fired)
		}
		if err != nil {
			m.fail()
			t.Fatalf("%s, %s: %v", step.name, what, err)
		}
	}
}

// enough is how many lives may fail before no more are begun: each may wait in vain.
const enough = 8

func (m *matrix) fail() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed++
}

func (m *matrix) hopeless() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed >= enough
}

func (m *matrix) note(step int, fault point, met bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if met {
		m.met[step][fault] = true
		return
	}
	m.unmet[step][fault] = true
}

// metAny says whether a write has met another fault.
func (m *matrix) metAny(step int, fault point) bool {
	for other := range m.met[step] {
		if other.write == fault.write {
			return true
		}
	}
	return false
}

// report prints how many faults there were. One may fail to happen only if its write need not be there in each run: how
// often a status is written, which events are told, and whether two ends are written apart, depends on how passes fall. A
// write of another object has to meet one fault at least.
func (m *matrix) report(t *testing.T) {
	var table strings.Builder
	writes, met, unmet := 0, 0, 0
	for i, step := range m.steps {
		fmt.Fprintf(&table, "%-32s %3d writes %4d faults %3d did not happen\n",
			step.name, len(m.recorded[i].writes), len(m.met[i]), len(m.unmet[i]))
		for _, w := range m.recorded[i].writes {
			fmt.Fprintf(&table, "    %s\n", w)
		}
		writes, met, unmet = writes+len(m.recorded[i].writes), met+len(m.met[i]), unmet+len(m.unmet[i])
		for fault := range m.unmet[i] {
			if !m.metAny(i, fault) && !strings.HasSuffix(fault.write.resource, "/status") && fault.write.resource != events {
				t.Errorf("%s: %s did not happen", step.name, fault)
			}
		}
	}
	t.Logf("%d writes, %d faults, %d did not happen\n%s", writes, met, unmet, &table)
}
