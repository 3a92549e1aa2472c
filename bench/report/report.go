// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report is what a run has measured: a line for each figure, and the document for people, docs/performance.md, which
// is made of those lines and a text around them and of nothing else.
package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/hookonce/hookonce/bench/measure"
)

// Facts are what a reader must know besides the figures.
type Facts struct {
	Date     string `json:"date"`
	Commit   string `json:"commit"`
	Command  string `json:"command"`
	Machine  string `json:"machine"`
	Go       string `json:"go"`
	Postgres string `json:"postgres"`
	Pgx      string `json:"pgx"`
	River    string `json:"river"`
	// Profile says that the receiver was compiled with a profile of itself, as it is released.
	Profile bool `json:"profile"`
	// Rounds that were asked for.
	Rounds int `json:"rounds"`
	// Retained claims of the old ledger.
	Retained int `json:"retained"`
	// Apart says that the senders of too much load had a processor of their own.
	Apart bool `json:"apart,omitempty"`
}

// Line is one figure.
type Line struct {
	// Name of the figure, such as ingest.vs_limit.
	Name string `json:"name"`
	// Operator is >= or <=, and Goal what the figure is compared with; both are empty for a figure without a goal.
	Operator string  `json:"operator,omitempty"`
	Goal     float64 `json:"goal,omitempty"`
	// Values of the rounds; their median is the figure.
	Values []float64 `json:"values"`
}

// Report is everything that a run has found.
type Report struct {
	Facts Facts  `json:"facts"`
	Lines []Line `json:"lines"`
}

// New returns a report without lines.
func New(facts Facts) *Report { return &Report{Facts: facts} }

// Goal adds a figure with a goal.
func (r *Report) Goal(name string, values []float64, operator string, goal float64) {
	r.Lines = append(r.Lines, Line{Name: name, Operator: operator, Goal: goal, Values: finite(values)})
}

// Figure adds a figure without a goal; none if there are no values.
func (r *Report) Figure(name string, values ...float64) {
	if values = finite(values); len(values) > 0 {
		r.Lines = append(r.Lines, Line{Name: name, Values: values})
	}
}

// finite are the values that say something, in as many digits as mean anything.
func finite(values []float64) []float64 {
	const digits = 5
	kept := []float64{}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64); err == nil {
			kept = append(kept, short)
		}
	}
	return kept
}

// Print writes a line for each figure.
func (r *Report) Print(to io.Writer) {
	for _, l := range r.Lines {
		fmt.Fprintln(to, l)
	}
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

// Short are the names of goals that were measured in fewer rounds.
func (r *Report) Short(rounds int) []string {
	var names []string
	for _, l := range r.Lines {
		if l.Operator != "" && len(l.Values) < rounds {
			names = append(names, l.Name)
		}
	}
	return names
}

// Met says whether the goal is met; a figure without a goal meets it, and one that was not measured does not.
func (l Line) Met() bool {
	median := measure.Summarize(l.Values).Median
	switch l.Operator {
	case ">=":
		return median >= l.Goal
	case "<=":
		return median <= l.Goal
	}
	return true
}

// String is name, value, operator, goal and verdict, and then the spread; a figure without a goal has dashes for those.
func (l Line) String() string {
	s := measure.Summarize(l.Values)
	text := l.Name + " " + Number(s.Median)
	switch {
	case l.Operator == "":
		text += " - - -"
	case len(l.Values) == 0:
		text += fmt.Sprintf(" %s %s unmeasured", l.Operator, Number(l.Goal))
	case l.Met():
		text += fmt.Sprintf(" %s %s ok", l.Operator, Number(l.Goal))
	default:
		text += fmt.Sprintf(" %s %s missed", l.Operator, Number(l.Goal))
	}
	if s.Rounds > 1 {
		text += fmt.Sprintf(" min=%s max=%s rounds=%d", Number(s.Least), Number(s.Most), s.Rounds)
	}
	return text
}

// Number has as many digits as mean something.
func Number(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case v == math.Trunc(v) || size >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case size >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
