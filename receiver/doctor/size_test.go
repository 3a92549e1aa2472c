// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/doctor"
	"github.com/hookonce/hookonce/receiver/verify"
)

// hopeless is a delivery with that body, which nothing makes verify, and what its diagnosis allocated in bytes.
func hopeless(t *testing.T, body string) (doctor.Diagnosis, uint64) {
	t.Helper()
	f := newFixture(t, scheme.GitHub, rawText)
	f.key, f.body = []byte("a-secret-that-nobody-has"), body
	f.send()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := doctor.Diagnose(f.c, verify.Verify)
	runtime.ReadMemStats(&after)
	if d.Verifies || len(d.Findings) > 0 {
		t.Fatalf("got %+v, want no finding", d)
	}
	return d, after.TotalAlloc - before.TotalAlloc
}

// TestRewritingsAreNotKept: there are 120 of them, and they share one piece of memory.
func TestRewritingsAreNotKept(t *testing.T) {
	body := `{"note":"` + strings.Repeat("a", 512<<10) + `"}`
	if _, took := hopeless(t, body); took > 60*uint64(len(body)) {
		t.Errorf("a body of %d bytes took %d bytes", len(body), took)
	}
	// Each number is written behind up to 760 blanks: the largest rewriting would be 380 times the body.
	deep := strings.Repeat("[", 190) + strings.Repeat("1,", 100<<10) + "1" + strings.Repeat("]", 190)
	if _, took := hopeless(t, deep); took > 150<<20 {
		t.Errorf("a deep body of %d bytes took %d bytes", len(deep), took)
	}
}

// TestLargeBodiesAreNotRewritten: and what was not tried is said, and not said to be tried.
func TestLargeBodiesAreNotRewritten(t *testing.T) {
	for size, want := range map[int]bool{1 << 20: false, 1<<20 + 1: true} {
		body := `"` + strings.Repeat("a", size-2) + `"`
		d, _ := hopeless(t, body)
		noted := strings.Contains(fmt.Sprint(d.Notes), fmt.Sprintf("the body has %d bytes, more than 1048576: whether its JSON", size))
		tried := slices.ContainsFunc(d.Tried, func(text string) bool { return strings.Contains(text, "written anew") })
		if noted != want || tried == want {
			t.Errorf("%d bytes: noted %v, tried %v; notes %q", size, noted, tried, d.Notes)
		}
	}
}
