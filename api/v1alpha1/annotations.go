// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// AnnotationReason is why somebody asked for a SecretRotation, in their own words. Nothing depends on it.
const AnnotationReason = "webhooks.hookonce.dev/reason"
