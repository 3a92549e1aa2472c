// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostile lets senders do their worst to a real `receiver serve` with a real Postgres, while a good one goes on. Its
// tests have the build tag faults.
package hostile
