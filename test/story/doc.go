// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package story sets up a shop with Hookonce on a cluster and plays what matters to it, asserting every claim: one effect
// for many deliveries, a crash between claim and commit, a rotation, an outage of a destination, retention. `make demo`
// tells it to people, `make e2e` runs it as tests. It drives the real commands: kubectl, receiver send, the cluster tool.
package story
