// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package receiver is the domain of the data plane: what an event, an answer, a delivery and an attempt are. Its
// subpackages are the adapters: verify checks signatures, ingest answers HTTP, ledger is Postgres, relay posts to
// destinations, retention prunes, snapshot follows the mounted folders, status serves the private port. They do not know each
// other; cmd/receiver wires them. Below ledger and retention is database: how both connect. Beside them are two for people:
// doctor finds out why a delivery does not verify, and prove whether an endpoint counts each event once.
package receiver
