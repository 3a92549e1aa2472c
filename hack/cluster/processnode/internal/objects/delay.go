// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// Delay says how long a change of an object stays invisible in a pod's volumes. Each pod draws
// its own delay for each change. It implements the flag value interface.
type Delay struct {
	least, most time.Duration

	mu     sync.Mutex
	random *rand.Rand
}

// Set parses a duration ("30s") or a range ("0s-120s").
func (d *Delay) Set(text string) error {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	least, err := time.ParseDuration(from)
	if err != nil {
		return fmt.Errorf("parse the delay: %w", err)
	}
	most, err := time.ParseDuration(to)
	if err != nil {
		return fmt.Errorf("parse the end of the delay's range: %w", err)
	}
	if least < 0 || most < least {
		return errors.New("the delay must not be negative, and its range must be in order")
	}
	d.least, d.most = least, most
	return nil
}

func (d *Delay) String() string {
	if d.least == d.most {
		return d.least.String()
	}
	return d.least.String() + "-" + d.most.String()
}

// Type names the kind of value in the help text.
func (d *Delay) Type() string { return "duration or range" }

// Seed starts the series of delays over. The same seed and the same order of changes give the
// same delays.
func (d *Delay) Seed(seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.random = rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test wants the same delays again
}

// Next draws a delay, evenly from the range. Seed must have been called if there is a range.
func (d *Delay) Next() time.Duration {
	if d.least == d.most {
		return d.least
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.least + time.Duration(d.random.Int64N(int64(d.most-d.least)+1))
}
