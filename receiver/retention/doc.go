// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package retention removes from the ledger what an endpoint no longer needs: claims, payloads, attempts and replays past
// their age, and never what an unfinished or failed delivery refers to. Failed deliveries go only where they have an age.
//
// Several endpoints may share a schema, each with ages of its own. Rows are removed by their own endpoint's prune, in
// batches. A day's partition is dropped whole once everything in it is past the age of the endpoint that it belongs to.
// The keys of effects that are booked once per resource are shared by endpoints, and kept as long as the longest
// retention of claims among them. All ages are by the database's clock.
package retention
