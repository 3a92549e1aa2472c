// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what the senders of the fault tests send. Everything follows from a seed: which events there are,
// what they say, which come more than once, when, and to which replica.
package plan
