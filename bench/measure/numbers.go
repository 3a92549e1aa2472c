// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"math"
	"slices"
)

// Spread is what several rounds say together.
type Spread struct {
	Median, Least, Most float64
	Rounds              int
}

// Summarize returns the spread of the values; NaN if there are none.
func Summarize(values []float64) Spread {
	if len(values) == 0 {
		return Spread{Median: math.NaN(), Least: math.NaN(), Most: math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Spread{
		Median: (sorted[(n-1)/2] + sorted[n/2]) / 2,
		Least:  sorted[0], Most: sorted[n-1], Rounds: n,
	}
}

// Harmonic is the rate of doing both on the same processors, one after the other.
func Harmonic(a, b float64) float64 { return 1 / (1/a + 1/b) }
