// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func all(p *Plan) []Step {
	var steps []Step
	for step, ok := p.Next(); ok; step, ok = p.Next() {
		steps = append(steps, step)
	}
	return steps
}

func TestASeedReplays(t *testing.T) {
	a, b, c := New(7, 5000, 3), New(7, 5000, 3), New(8, 5000, 3)
	if diff := cmp.Diff(all(a), all(b)); diff != "" {
		t.Errorf("two plans of one seed differ:\n%s", diff)
	}
	if cmp.Equal(all(New(7, 5000, 3)), all(c)) {
		t.Error("plans of different seeds are the same")
	}
	for n := range 100 {
		if diff := cmp.Diff(a.Event(n), b.Event(n)); diff != "" {
			t.Fatalf("event %d differs:\n%s", n, diff)
		}
	}
}

func TestShares(t *testing.T) {
	p := New(3, 100_000, 3)
	sent, firsts := 0, map[int]bool{}
	for _, step := range all(p) {
		for i, s := range step {
			if s.Kind == First {
				firsts[s.Event] = true
			} else if !firsts[s.Event] {
				t.Fatalf("event %d comes again before it came", s.Event)
			}
			if i > 0 && s.Node == step[0].Node {
				t.Fatalf("event %d: both deliveries go to one replica", s.Event)
			}
			if s.Kind != Conflict {
				sent++
			}
		}
	}
	n := p.Counts()
	if sent != 100_000 || n.Deliveries != 100_000 || n.Events+n.Concurrent+n.Later != 100_000 {
		t.Errorf("%d sent, %+v; want 100,000", sent, n)
	}
	if d := n.Concurrent + n.Later; d < 19_000 || d > 21_000 || n.Concurrent < 9_000 || n.Later < 9_000 {
		t.Errorf("%d duplicates, %d of them concurrent; want 20 %% and half of those", d, n.Concurrent)
	}
	if n.Conflicts < 1000 {
		t.Errorf("%d conflicts, want more than 1,000", n.Conflicts)
	}
}

func TestEvents(t *testing.T) {
	p := New(5, 1000, 3)
	type key struct {
		endpoint int
		id       string
	}
	ids, ofEndpoint := map[key]bool{}, [Endpoints]int{}
	for n := range 3000 {
		e := p.Event(n)
		ofEndpoint[e.Endpoint]++
		if ids[key{e.Endpoint, e.ID}] {
			t.Fatalf("the id %s is there twice at one endpoint", e.ID)
		}
		ids[key{e.Endpoint, e.ID}] = true
		if !json.Valid(e.Body) {
			t.Fatalf("the body is no JSON: %s", e.Body)
		}
		if other := p.Conflicting(n); string(other.Body) == string(e.Body) || other.ID != e.ID {
			t.Fatalf("no conflict: %s and %s", other.Body, e.Body)
		}
	}
	for i, n := range ofEndpoint {
		if n < 900 {
			t.Errorf("%d of 3,000 events go to the endpoint %d", n, i)
		}
	}
}
