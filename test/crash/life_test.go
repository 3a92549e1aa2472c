// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

const (
	// patience bounds how long a step may take.
	patience = time.Minute
	// quiet is for how long nothing is written after a step of the run without a fault.
	quiet = 700 * time.Millisecond
	// unmet is how long a fault is waited for once everything is as it should be.
	unmet = time.Second
)

// outcome is what a step has come to. Names are those by which runs can be compared.
type outcome struct {
	picture picture
	// created and deleted count the objects of this step, told all events so far by what they are about and their reason.
	created, deleted map[key]int
	told             map[string]int
	// turned counts how often the endpoint's condition Ready became so, by reason.
	turned map[string]int
	// writes of the operator in this step, in order.
	writes []write
	// fired says whether the fault has happened.
	fired bool
}

// run is one life of an endpoint.
type run struct {
	*shop
	t        *testing.T
	judge    *judge
	operator *operator
	// since is how often receivers had been asked when the operator started.
	since int64
}

// newRun starts a life.
func newRun(t *testing.T, w *world) *run {
	t.Helper()
	s := newShop(t, w)
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { s.runCluster(ctx) })
	r := &run{shop: s, t: t, judge: newJudge()}
	r.begin(epoch, nil)
	r.operator = startOperator(t, s)
	t.Cleanup(func() {
		r.operator.stop()
		cancel()
		group.Wait()
	})
	return r
}

// restart lets another operator take over from the one that is gone.
func (r *run) restart() {
	r.operator.stop()
	r.since = r.asked.Load()
	r.operator = startOperator(r.t, r.shop)
}

// looked says whether the operator that runs has looked at the endpoint a few times, if there is one.
func (r *run) looked() bool {
	return r.asked.Load() >= r.since+6 || r.find(endpoints, payments) == nil
}

var errLong = errors.New("it did not come to an end")

// take takes a step, with a fault or without, and waits until ended says so of what is there. Then it judges how it got there.
func (r *run) take(step step, at time.Time, fault *point, ended func(seen outcome, changed bool) bool) (outcome, error) {
	r.begin(at, fault)
	step.do(r.shop)
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var seen outcome
	var err error
	last := int64(-1)
	for {
		versions := r.versions.Load()
		if versions != last {
			seen, err = r.outcome()
		}
		seen.writes, seen.fired = r.injector.written(), r.injector.hasFired()
		select {
		case <-r.operator.crashed:
			r.restart()
			continue
		default:
		}
		select {
		case <-deadline.C:
			return seen, errors.Join(errLong, err)
		case <-tick.C:
		}
		if err == nil && ended(seen, versions != last) && r.looked() {
			return seen, r.verdict(step)
		}
		last = versions
	}
}

// verdict is what the judge says of the step.
func (r *run) verdict(step step) error {
	r.mu.Lock()
	history := r.history
	r.mu.Unlock()
	var errs []error
	for _, breach := range r.judge.hear(step, history) {
		errs = append(errs, errors.New(breach))
	}
	return errors.Join(errs...)
}

// record takes a step without a fault, and waits until its states are reached and nothing is written any more.
func (r *run) record(step step, at time.Time) (outcome, error) {
	last, since := -1, time.Now()
	return r.take(step, at, nil, func(seen outcome, _ bool) bool {
		if n := len(seen.writes); n != last {
			last, since = n, time.Now()
		}
		return reached(step, seen.picture) && time.Since(since) > quiet
	})
}

// reached says whether a step has ended as it should.
func reached(step step, seen picture) bool {
	if seen.state(endpoints, payments) != step.endpoint {
		return false
	}
	for _, object := range seen {
		owners, _, _ := unstructured.NestedSlice(object, "metadata", "ownerReferences")
		if len(owners) > 0 && step.endpoint == "" {
			// What belonged to the endpoint is not collected yet.
			return false
		}
	}
	for name, state := range step.rotations {
		if seen.state(rotations, name) != state {
			return false
		}
	}
	return true
}

// suffer takes a step with a fault, and waits until all is as after the run without.
func (r *run) suffer(step step, at time.Time, fault *point, want outcome) (outcome, error) {
	var equal time.Time
	seen, err := r.take(step, at, fault, func(seen outcome, changed bool) bool {
		switch {
		case !changed:
		case len(differences(want.picture, seen.picture)) > 0:
			equal = time.Time{}
		case equal.IsZero():
			equal = time.Now()
		}
		return !equal.IsZero() && (fault == nil || seen.fired || time.Since(equal) > unmet)
	})
	if err != nil {
		return seen, fmt.Errorf("%w\n%s", err, strings.Join(differences(want.picture, seen.picture), "\n"))
	}
	return seen, extra(want, seen)
}

// extra says what was made or removed more or less often than in the run without a fault, and what was told more often.
func extra(want, got outcome) error {
	var errs []error
	for _, counts := range []struct {
		what      string
		want, got map[key]int
	}{{"created", want.created, got.created}, {"deleted", want.deleted, got.deleted}} {
		all := maps.Clone(counts.want)
		maps.Copy(all, counts.got)
		for k := range all {
			if counts.want[k] != counts.got[k] {
				errs = append(errs, fmt.Errorf("%s %s was %s %d times, want %d", k.resource, k.name, counts.what, counts.got[k], counts.want[k]))
			}
		}
	}
	for what, n := range got.told {
		kind, _, _ := strings.Cut(what, "/")
		_, reason, _ := strings.Cut(what, " ")
		switch {
		case strings.HasSuffix(what, v1alpha1.ReasonRetrying):
			// That an error is being retried is told where there is one.
		case kind == "SecretRotation" && n > 1:
			// A state comes once. Which of two rotations sees it depends on how passes fall.
			errs = append(errs, fmt.Errorf("event %q was told %d times", what, n))
		case kind == "WebhookEndpoint" && n > max(got.turned[reason], want.told[what]-want.turned[reason]):
			errs = append(errs, fmt.Errorf("event %q was told %d times, and came about %d times", what, n, got.turned[reason]))
		}
	}
	return errors.Join(errs...)
}
