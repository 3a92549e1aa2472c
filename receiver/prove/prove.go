// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prove finds out whether an endpoint, ours or not, has the effect of each event exactly once: it sends events as a
// provider would, again, at once and later, and compares what the endpoint recorded. What the effect is does not matter, as
// long as something can say how often it happened for each event.
package prove

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Event is one that is made up for the proof.
type Event struct {
	// ID and ResourceID are by what the ledger knows it.
	ID, ResourceID string
	// Sign returns the request by which the provider would send it at that moment: always the same body, signed anew.
	Sign func(ctx context.Context, now time.Time) (*http.Request, error)
}

// Ledger is what the endpoint recorded.
type Ledger struct {
	// Count says how often each of the events was recorded, by its id. Those that were not may be missing.
	Count func(ctx context.Context, events []Event) (map[string]int, error)
	// Live says that Count may be asked at any time, and not only at the end.
	Live bool
}

// Options say what is sent, and how.
type Options struct {
	// NewEvent makes up an event.
	NewEvent func() (Event, error)
	// Client sends; it should not follow redirects.
	Client *http.Client
	Ledger Ledger
	// Copies of one event are sent at once, in as many Rounds, each with another event.
	Copies, Rounds int
	// Attempts are made for each delivery until it is answered with 2xx, as a provider does.
	Attempts int
	// RetryDelay is waited between attempts where the answer says nothing, and at most 5 s where it does.
	RetryDelay time.Duration
	// ReplayAfter is waited before an event is sent again as a redelivery; Settle before the ledger is read at the end.
	ReplayAfter, Settle time.Duration
	// BeforeReplay happens before the redelivery, such as a restart of the endpoint; nil for nothing.
	BeforeReplay func(ctx context.Context) error
	// AnyAnswer takes different answers to one event for right.
	AnyAnswer bool
	Now       func() time.Time
	// Progress is told what goes on; nil for nobody.
	Progress func(text string)
}

// Verdict on one step.
type Verdict string

// The verdicts.
const (
	Holds  Verdict = "holds"
	Fails  Verdict = "fails"
	NotRun Verdict = "not run"
)

// Report is the outcome: it holds if all steps do.
type Report struct {
	Holds bool   `json:"holds"`
	Steps []Step `json:"steps"`
}

// Step is one of the five.
type Step struct {
	Name    string  `json:"step"`
	Verdict Verdict `json:"verdict"`
	// Detail says what was seen, and what it means if the step fails.
	Detail string `json:"detail"`
	// Events that it sent.
	Events []Sent `json:"events,omitempty"`
}

// Sent is what became of one event.
type Sent struct {
	EventID    string `json:"eventID"`
	ResourceID string `json:"resourceID,omitempty"`
	// Answers of all attempts, equal ones together.
	Answers []Answers `json:"answers"`
	// Recorded is how often the ledger has it.
	Recorded int `json:"recorded"`
}

// Answers are equal ones.
type Answers struct {
	// Status is 0 where there was no answer; Digest then is the error.
	Status int    `json:"status"`
	Digest string `json:"digest"`
	Count  int    `json:"count"`
}

// The names of the steps.
const (
	StepFire    = "fire"
	StepAgain   = "fire again"
	StepCollide = "collide"
	StepReplay  = "replay"
	StepLedger  = "ledger"
)

// run is a proof under way.
type run struct {
	Options
	steps []*step
}

// step collects what speaks against it.
type step struct {
	name     string
	events   []*sending
	problems []string
	// seen is what is said of a step that holds.
	seen   string
	notRun bool
}

func (s *step) fails(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// Run makes the proof. An error says that it could not be made: the ledger cannot be read, or an event not be signed. That
// the endpoint does not answer is a verdict.
func Run(ctx context.Context, o Options) (Report, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	r := &run{Options: o}
	for _, name := range []string{StepFire, StepAgain, StepCollide, StepReplay, StepLedger} {
		r.steps = append(r.steps, &step{name: name})
	}
	for i, do := range []func(context.Context, *step) error{r.fire, r.again, r.collide, r.replay, r.compare} {
		r.Progress(r.steps[i].name)
		if err := do(ctx, r.steps[i]); err != nil {
			return Report{}, fmt.Errorf("%s: %w", r.steps[i].name, err)
		}
		if i == 0 && !r.steps[0].events[0].accepted() {
			// What is not even accepted once is not worth a collision.
			for _, rest := range r.steps[1:] {
				rest.notRun = true
			}
			break
		}
	}
	return r.report(), nil
}

// fire sends one event. Whoever answers 2xx has recorded it: a live ledger must have it at once.
func (r *run) fire(ctx context.Context, s *step) error {
	event, err := r.send(ctx, s)
	if err != nil || !event.accepted() || !r.Ledger.Live {
		return err
	}
	counts, err := r.Ledger.Count(ctx, []Event{event.Event})
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	if counts[event.ID] == 0 {
		s.fails("it was answered with 2xx before it was recorded: a crash right after the answer loses it")
	}
	return nil
}

// again sends an event, and the same once more.
func (r *run) again(ctx context.Context, s *step) error {
	event, err := r.send(ctx, s)
	if err != nil {
		return err
	}
	return r.deliver(ctx, event, nil)
}

// replay sends an event, and the same bytes with a fresh signature after a while.
func (r *run) replay(ctx context.Context, s *step) error {
	event, err := r.send(ctx, s)
	if err != nil {
		return err
	}
	if err := wait(ctx, r.ReplayAfter); err != nil {
		return err
	}
	if r.BeforeReplay != nil {
		r.Progress("what was asked for before the replay")
		if err := r.BeforeReplay(ctx); err != nil {
			return fmt.Errorf("before the replay: %w", err)
		}
	}
	return r.deliver(ctx, event, nil)
}

// compare reads the ledger at the end, and with it the verdicts of the other steps.
func (r *run) compare(ctx context.Context, s *step) error {
	if err := wait(ctx, r.Settle); err != nil {
		return err
	}
	var all []Event
	for _, other := range r.steps {
		for _, event := range other.events {
			all = append(all, event.Event)
		}
	}
	counts, err := r.Ledger.Count(ctx, all)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	var missing, double int
	for _, other := range r.steps {
		for _, event := range other.events {
			event.recorded = counts[event.ID]
			switch {
			case event.recorded == 0 && event.accepted():
				missing++
			case event.recorded > 1:
				double++
			}
		}
	}
	s.seen = fmt.Sprintf("each of %d events is there once", len(all))
	if missing > 0 {
		s.fails("%d of %d events were answered with 2xx and are not there: they are lost, or recorded elsewhere", missing, len(all))
	}
	if double > 0 {
		s.fails("%d of %d events are there more than once: nothing makes their id unique in the transaction of the effect", double, len(all))
	}
	return nil
}

func (r *run) report() Report {
	report := Report{Holds: true}
	for _, s := range r.steps {
		out := Step{Name: s.name, Verdict: Holds}
		for _, event := range s.events {
			r.judge(s, event)
			out.Events = append(out.Events, event.report())
		}
		switch {
		case s.notRun:
			out.Verdict, out.Detail = NotRun, "the first event was not accepted"
		case len(s.problems) > 0:
			out.Verdict, out.Detail = Fails, join(s.problems)
		case s.seen != "":
			out.Detail = s.seen
		default:
			out.Detail = seen(s.events)
		}
		report.Holds = report.Holds && out.Verdict == Holds
		report.Steps = append(report.Steps, out)
	}
	return report
}

// judge finds what is wrong with one event of a step.
func (r *run) judge(s *step, event *sending) {
	for _, problem := range event.refused {
		s.fails("%s", problem)
	}
	accepted := event.acceptedAnswers()
	if len(accepted) > 1 && !r.AnyAnswer {
		s.fails("the same event was answered in %d ways: the first answer is not replayed, so that a sender who lost it cannot get it",
			len(accepted))
	}
	if len(event.refused) == 0 && event.recorded > 1 {
		s.fails("one event was recorded %d times", event.recorded)
	}
	if len(event.refused) > 0 && event.recorded > 1 {
		s.fails("and was recorded %d times", event.recorded)
	}
	if event.accepted() && event.recorded == 0 && s.name != StepLedger && len(s.problems) == 0 {
		s.fails("it was answered with 2xx and is not in the ledger")
	}
}

// wait returns early, with an error, if the proof is called off.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("called off"), ctx.Err())
	}
}
