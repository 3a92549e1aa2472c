// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

// Package faults proves the promise where it is hardest to keep: real receivers and a real Postgres are killed, paused, cut
// off and slowed down while providers send, and afterwards every acknowledgment is compared with what is in the ledger, in
// the tables that effects wrote to, and at the destinations.
//
// Everything is on loopback. What is sent, and when which fault comes, follows from a seed, which is printed; how the
// processes interleave does not. Environment:
//
//	FAULTS_SEED        replays a plan. Default: a random one.
//	FAULTS_TIER        ci (default): 100,000 deliveries, and 1,000 cuts at each of five points around COMMIT.
//	                   nightly: 1,000,000 and 10,000, which takes hours.
//	FAULTS_DELIVERIES  instead of the tier's number.
//	FAULTS_CUTS        instead of the tier's number, at each point.
//	FAULTS_RECEIVER    tests this binary instead of building the receiver of the checkout.
package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const (
	nodes   = 3
	senderN = 192
)

type tier struct{ deliveries, cuts int }

var tiers = map[string]tier{
	"":        {100_000, 1000},
	"ci":      {100_000, 1000},
	"nightly": {1_000_000, 10_000},
}

func chosenTier(t *testing.T) tier {
	t.Helper()
	chosen, ok := tiers[os.Getenv("FAULTS_TIER")]
	if !ok {
		t.Fatalf("FAULTS_TIER is %q, want ci or nightly", os.Getenv("FAULTS_TIER"))
	}
	chosen.deliveries = int(number(t, "FAULTS_DELIVERIES", uint64(chosen.deliveries)))
	chosen.cuts = int(number(t, "FAULTS_CUTS", uint64(chosen.cuts)))
	return chosen
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.Fatalf("%s is %q, want a number", name, text)
	}
	return n
}

func seed(t *testing.T) uint64 {
	t.Helper()
	s := number(t, "FAULTS_SEED", uint64(rand.Uint32())) //nolint:gosec // A seed is no secret.
	fmt.Printf("faults: %s: FAULTS_SEED=%d\n", t.Name(), s)
	return s
}

// TestNothingGoesWrong is the control: without a fault all answers are final, and the counters are exact.
func TestNothingGoesWrong(t *testing.T) {
	campaign{
		seed: seed(t), deliveries: min(1000, chosenTier(t).deliveries), nodes: nodes, senders: 16, exact: true,
	}.run(t)
}

// TestCutsAroundCommit cuts connections at five points around COMMIT, and does nothing else.
func TestCutsAroundCommit(t *testing.T) {
	cuts := chosenTier(t).cuts
	campaign{
		seed: seed(t), deliveries: 20 * cuts, nodes: nodes, senders: senderN / 3,
		cutShare: 0.5, cutsPerPoint: cuts, allCuts: true,
	}.run(t)
}

// TestFaults does everything at once.
func TestFaults(t *testing.T) {
	chosen := chosenTier(t)
	campaign{
		seed: seed(t), deliveries: chosen.deliveries, nodes: nodes, senders: senderN,
		cutShare: 0.01, cutsPerPoint: chosen.cuts, faults: everything,
	}.run(t)
}
