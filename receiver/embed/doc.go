// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package embed puts a receiver into a Go program: the handler that receiver pods serve, with the same ledger, and effects
// that are written in Go. An effect runs in the transaction that claims the event, so that it happens exactly once, however
// often the provider delivers and wherever the program ends.
package embed
