// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger is the receiver's memory in the user's own Postgres: which events were claimed, what their effects
// answered, and which deliveries are still owed. It keeps these invariants:
//
// An event's claim, effects, results and deliveries commit together or not at all. There is one claim per endpoint and
// event id. A duplicate of a settled claim writes nothing. A commit whose outcome is unknown is never acknowledged. A
// lease that was taken over changes nothing.
//
// All transactions are READ COMMITTED and take their locks in one order: claims (body before id), effect guards by
// scope, then whatever the user's functions touch. Sessions carry no state, so a pooler in transaction mode may stand
// between. Every clock that decides anything is the database's.
package ledger
