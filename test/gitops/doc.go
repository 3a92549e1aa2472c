// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitops runs a real Flux against the cluster: what is committed to a Git repository rotates signing secrets while
// a provider never stops sending. It is a module of its own for kstatus, by which Flux and Argo CD judge health.
package gitops
