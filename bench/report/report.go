// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report prints what was measured: a line for each goal, and the table in docs/performance.md.
package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/hookonce/hookonce/bench/measure"
)

// Line is one figure.
type Line struct {
	// Name of the figure, such as ingest.vs_limit.
	Name string
	// Spread over the rounds; Median is the figure.
	measure.Spread
	// Operator is >= or <=, and Goal what the figure is compared with; both are empty for a figure without a goal.
	Operator string
	Goal     float64
}

// Report is everything that a run has found.
type Report struct {
	Lines []Line
	out   io.Writer
}

// New returns a report that prints each line when it is added.
func New(out io.Writer) *Report { return &Report{out: out} }

// Goal adds a figure with a goal.
func (r *Report) Goal(name string, values []float64, operator string, goal float64) {
	r.add(Line{Name: name, Spread: measure.Summarize(values), Operator: operator, Goal: goal})
}

// Figure adds a figure without a goal.
func (r *Report) Figure(name string, values ...float64) {
	r.add(Line{Name: name, Spread: measure.Summarize(values)})
}

func (r *Report) add(l Line) {
	r.Lines = append(r.Lines, l)
	fmt.Fprintln(r.out, l)
}

// Met says whether the goal is met; a figure without a goal meets it, and one that could not be measured does not.
func (l Line) Met() bool {
	switch l.Operator {
	case ">=":
		return l.Median >= l.Goal
	case "<=":
		return l.Median <= l.Goal
	}
	return true
}

// Missed are the names of figures that do not meet their goals.
func (r *Report) Missed() []string {
	var names []string
	for _, l := range r.Lines {
		if !l.Met() {
			names = append(names, l.Name)
		}
	}
	return names
}

// String is name, value, operator, goal and verdict, and then the spread; a figure without a goal has dashes for those.
func (l Line) String() string {
	text := l.Name + " " + Number(l.Median)
	switch {
	case l.Operator == "":
		text += " - - -"
	case l.Met():
		text += fmt.Sprintf(" %s %s ok", l.Operator, Number(l.Goal))
	default:
		text += fmt.Sprintf(" %s %s missed", l.Operator, Number(l.Goal))
	}
	if l.Rounds > 1 {
		text += fmt.Sprintf(" min=%s max=%s rounds=%d", Number(l.Least), Number(l.Most), l.Rounds)
	}
	return text
}

// Number has as many digits as mean something.
func Number(v float64) string {
	switch size := math.Abs(v); {
	case v == math.Trunc(v) || size >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case size >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
