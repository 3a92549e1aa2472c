// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import "context"

// Diagnose prints what somebody would look at first when something does not hold.
func (w *World) Diagnose(ctx context.Context) {
	for _, args := range [][]string{
		{"get", "nodes", "-o", "wide"},
		{"get", "pods", "-A", "-o", "wide"},
		{"get", "whe,srot", "-A", "-o", "wide"},
		{"describe", "whe", "-n", Namespace},
		{"get", "events", "-A", "--sort-by=.lastTimestamp"},
		{"logs", "-n", OperatorNamespace, "deployment/hookonce-operator", "--tail=60"},
		{"logs", "-n", Namespace, "-l", "app.kubernetes.io/name=hookonce-receiver", "--all-containers", "--tail=40", "--prefix"},
	} {
		if err := w.show(ctx, args...); err != nil {
			w.Say("  %v", err)
		}
	}
}
