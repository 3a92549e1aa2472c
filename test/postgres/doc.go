// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package postgres starts private Postgres servers for tests and for the demo, from the binaries that the system's
// package put under /usr/lib/postgresql. Durability is on, as in production: tests that pass only with fsync off prove
// nothing about what a crash leaves.
//
// Tests share one server per process and get a database each:
//
//	func TestMain(m *testing.M) { postgres.Main(m) }
//	func TestX(t *testing.T) { url := postgres.New(t) }
package postgres
