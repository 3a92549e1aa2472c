// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package counters has the tests of what can be counted instead of timed: what an event costs in commits, in bytes of the
// write-ahead log and in allocations, with the receiver as it is released. Counts do not depend on the machine or on its
// neighbors, so they are gates and not figures.
package counters
