// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package database is what the ledger and its retention share: how the connection URI is read and a connection is set up,
// how scopes are named, and the statements that both need.
package database
