// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package oracles compares receiver/verify with the providers' own libraries: both judge the same generated deliveries, and
// each disagreement has to be explained by a rule that says why we differ. It is a module of its own, so that nothing of
// those libraries is among our requirements.
package oracles
