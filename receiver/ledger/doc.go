// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger is the receiver's memory in the user's own Postgres: which events were claimed, what their effects
// answered, and which deliveries are still owed. It keeps these invariants:
//
// An event's claim, effects, results and deliveries commit together or not at all. There is one claim per endpoint and
// event id. A duplicate of a settled claim writes nothing. A commit whose outcome is unknown is never acknowledged. A
// lease that was taken over changes nothing.
//
// Events without effects are committed many at once, with one function in one round trip, and all others, as well as
// those that something is wrong with, step by step.
//
// All transactions are READ COMMITTED and take their locks in one order: claims (all bodies before all ids, and each of
// them by key), effect guards by scope, then whatever the user's functions touch. Sessions carry no state but prepared
// statements, and those only where no pooler in transaction mode stands between. Every clock that decides anything is the
// database's.
package ledger
