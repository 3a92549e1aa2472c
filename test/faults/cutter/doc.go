// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cutter is a proxy between a receiver and Postgres that understands the protocol and cuts the connection at one
// of five points around a COMMIT: the moments at which the client cannot know what became of its transaction, or does and
// loses the connection right after.
//
// It finds the COMMIT wherever it is: in a simple query, in an extended one, and inside a pipeline, where it may follow
// any number of messages. Only transactions that write a claim are cut; others pass.
package cutter
