// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package postgres starts private Postgres servers for tests and for the demo, and a PgBouncer in front of them if one is
// asked for. The server is the system's package, or another that HOOKONCE_POSTGRES names. Durability is on, as in
// production: tests that pass only with fsync off prove nothing about what a crash leaves.
//
// Tests share one server per process and get a database each:
//
//	func TestMain(m *testing.M) { postgres.Main(m) }
//	func TestX(t *testing.T) { url := postgres.New(t) }
package postgres
