// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// unused is a world in its overlap, whose rotation waits until the former secret is not used.
func unused(t *testing.T) (*world, keyring.Entry) {
	w := newWorld(t)
	w.spec.Retire, w.spec.MaxOverlap = rotation.WhenUnused, 3*day
	w.until(rotation.OverlapActive)
	return w, w.former()
}

// use lets a delivery verify with a secret.
func (w *world) use(fingerprint string, at time.Time) {
	w.seen.Receivers[0].LastUsed[fingerprint] = at
}

// drive looks every ten minutes and lets the former secret be used until a moment; it returns the deadlines.
func drive(w *world, former keyring.Entry, usedUntil time.Time) (ends []time.Time) {
	ends = append(ends, former.NotAfter)
	for range 24 * 6 * 10 {
		w.now = w.now.Add(10 * time.Minute)
		if !w.now.After(usedUntil) {
			w.use(former.Fingerprint, w.now)
		}
		w.plan()
		held, ok := w.seen.Keyring.ReplacedBy(w.spec.UID)
		if !ok {
			return ends
		}
		if !held.OverlapStart.Equal(former.OverlapStart) {
			w.t.Fatalf("the overlap starts %v, and did %v", held.OverlapStart, former.OverlapStart)
		}
		if !held.NotAfter.Equal(ends[len(ends)-1]) {
			ends = append(ends, held.NotAfter)
		}
	}
	w.t.Fatal("the former secret is kept for ever")
	return nil
}

func TestWhenUnusedKeepsAUsedSecret(t *testing.T) {
	cases := map[string]struct {
		used   time.Duration // since the overlap's start
		end    time.Duration
		writes int
	}{
		"never used":                      {-time.Hour, day, 0},
		"used for an hour":                {time.Hour, day + time.Hour, 1},
		"used for the whole overlap":      {day, 2 * day, 2},
		"used for longer than the most":   {9 * day, 3 * day, 3},
		"used until just before it moves": {21*time.Hour + 30*time.Minute, day + 21*time.Hour + 30*time.Minute, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, former := unused(t)
			ends := drive(w, former, former.OverlapStart.Add(c.used))
			end := ends[len(ends)-1]
			if off := former.OverlapStart.Add(c.end).Sub(end); off < 0 || off > 10*time.Minute {
				t.Errorf("ends %v after the start, want %v", end.Sub(former.OverlapStart), c.end)
			}
			if len(ends)-1 != c.writes {
				t.Errorf("deadlines %v, want %d writes", ends, c.writes)
			}
		})
	}
}

// The deadline stays where it is published, whatever is forgotten, and after it has passed.
func TestWhenUnusedMovesNothingItShouldNot(t *testing.T) {
	hold := func(w *world, former keyring.Entry) time.Time {
		w.now = former.NotAfter.Add(-time.Hour)
		w.use(former.Fingerprint, w.now)
		w.plan()
		return w.former().NotAfter
	}
	cases := map[string]func(*world, keyring.Entry, time.Time){
		"status and uses lost": func(w *world, former keyring.Entry, end time.Time) {
			w.seen.Recorded = rotation.Recorded{}
			w.use(former.Fingerprint, time.Time{})
			w.now = end.Add(-30 * time.Minute)
		},
		"used in the last ten minutes": func(w *world, former keyring.Entry, end time.Time) {
			w.now = end.Add(-9 * time.Minute)
			w.use(former.Fingerprint, w.now)
		},
		"used a little since": func(w *world, former keyring.Entry, end time.Time) {
			w.use(former.Fingerprint, w.now.Add(4*time.Minute))
			w.now = end.Add(-30 * time.Minute)
		},
		"used long before the end": func(w *world, former keyring.Entry, end time.Time) {
			w.now = end.Add(-3 * time.Hour)
			w.use(former.Fingerprint, w.now)
		},
	}
	for name, arrange := range cases {
		t.Run(name, func(t *testing.T) {
			w, former := unused(t)
			end := hold(w, former)
			if want := former.NotAfter.Add(-time.Hour).Add(day); !end.Equal(want) {
				t.Fatalf("held until %v, want %v", end, want)
			}
			arrange(w, former, end)
			if d := w.plan(); d.Keyring != nil || !w.former().NotAfter.Equal(end) {
				t.Errorf("moved from %v to %v", end, w.former().NotAfter)
			}
			w.now = end
			w.use(former.Fingerprint, end)
			w.plan()
			w.expect(rotation.Retiring, "")
		})
	}
}

func TestEditsOfRetire(t *testing.T) {
	cases := map[string]struct {
		edit func(*rotation.Spec)
		end  time.Duration // since the overlap's start; zero for at once
	}{
		"nothing":            {func(*rotation.Spec) {}, 47 * time.Hour},
		"to AtDeadline":      {func(s *rotation.Spec) { s.Retire = rotation.AtDeadline }, 0},
		"a shorter maximum":  {func(s *rotation.Spec) { s.MaxOverlap = 30 * time.Hour }, 30 * time.Hour},
		"a maximum that was": {func(s *rotation.Spec) { s.MaxOverlap = 25 * time.Hour }, 0},
		"a shorter overlap":  {func(s *rotation.Spec) { s.Overlap = 6 * time.Hour }, 29 * time.Hour},
		"a cap":              {func(s *rotation.Spec) { s.PreviousNotAfter = t0.Add(28*time.Hour + 2*time.Second) }, 28 * time.Hour},
		"revoked":            {func(s *rotation.Spec) { s.Immediate = true }, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, former := unused(t)
			w.now = former.NotAfter.Add(-time.Hour)
			w.use(former.Fingerprint, w.now)
			w.plan()
			w.now = former.OverlapStart.Add(25*time.Hour + time.Minute)
			c.edit(&w.spec)
			w.plan()
			if c.end == 0 {
				w.expect(rotation.Retiring, "")
				return
			}
			if got := w.former().NotAfter.Sub(former.OverlapStart); got != c.end {
				t.Errorf("ends %v after the start, want %v", got, c.end)
			}
		})
	}
}

// Case B69: people hear of it before deliveries are refused.
func TestOldSecretStillInUse(t *testing.T) {
	tenth := day / 10
	cases := map[string]struct {
		used, looked time.Duration // before the end
		retire       rotation.Retire
		want         bool
	}{
		"used, and not yet near":            {4 * time.Hour, tenth + time.Second, rotation.AtDeadline, false},
		"used, and near":                    {tenth, tenth, rotation.AtDeadline, true},
		"used one tenth before":             {2 * tenth, tenth, rotation.AtDeadline, true},
		"used before that":                  {2*tenth + time.Second, tenth, rotation.AtDeadline, false},
		"used before the overlap":           {day + time.Second, time.Hour, rotation.AtDeadline, false},
		"over":                              {time.Minute, 0, rotation.AtDeadline, false},
		"used, and the deadline is near":    {12 * time.Minute, 9 * time.Minute, rotation.WhenUnused, true},
		"used, and kept beyond the overlap": {time.Hour, time.Hour, rotation.WhenUnused, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, former := unused(t)
			w.spec.Retire = c.retire
			w.use(former.Fingerprint, former.NotAfter.Add(-c.used))
			w.now = former.NotAfter.Add(-c.looked)
			d := w.plan()
			if d.OldInUse != c.want || (d.OldInUseMessage != "") != c.want {
				t.Errorf("in use %t (%q), want %t", d.OldInUse, d.OldInUseMessage, c.want)
			}
		})
	}
}

func TestAnOverlapThatIsTooShort(t *testing.T) {
	w := newWorld(t)
	w.spec.Overlap, w.spec.MinOverlap, w.spec.MinOverlapReason = time.Hour, day, "for it signs events with the secret of their first attempt"
	d := w.plan()
	w.expect(rotation.Rejected, rotation.OverlapTooShort)
	for _, part := range []string{"1h", "24h at least", "first attempt", "spec.overlap"} {
		if !strings.Contains(d.Message, part) {
			t.Errorf("message %q does not say %q", d.Message, part)
		}
	}
	w.seen.Secret = usable("alpha")
	w.plan()
	w.expect(rotation.AlreadyCurrent, "")

	for name, edit := range map[string]func(*rotation.Spec){
		"long enough": func(s *rotation.Spec) { s.Overlap = day },
		"immediate":   func(s *rotation.Spec) { s.Immediate = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.spec.Overlap, w.spec.MinOverlap = time.Hour, day
			edit(&w.spec)
			w.plan()
			w.expect(rotation.Propagating, "")
		})
	}
}
