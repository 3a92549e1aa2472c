// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rotation rotates signing secrets on real parts: the operator's own controllers against a real API server,
// receivers that are processes of their own, a real Postgres, and a kubelet that is imitated, because its delay is what
// rotations are about. Providers send all the while, and go over to a new secret in each way that a scheme can say.
// Time is scaled: a minute of the kubelet's is a second here. The tests have the build tag faults.
package rotation
