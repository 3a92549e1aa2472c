// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package history judges what a run of the fault tests left behind: it compares what senders were told with what is in
// the ledger, in the tables that effects wrote to, and in the log of the destinations. It is pure: it reads no clock, no
// database and no network, so that each rule is proved on a history made by hand.
package history
