// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package receiver is the domain of the data plane: what an event, an answer, a delivery and an attempt are. Its
// subpackages are the adapters: verify checks signatures, ingest answers HTTP, ledger is Postgres, relay posts to
// destinations, status serves the private port. They do not know each other; cmd/receiver wires them.
package receiver
