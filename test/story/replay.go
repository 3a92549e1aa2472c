// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// replay sends the failed deliveries of an endpoint again: they are counted, shown, and sent.
func (w *World) replay(ctx context.Context, endpoint, name string) error {
	manifest := fmt.Sprintf(`apiVersion: %[4]s
kind: DeliveryReplay
metadata: {name: %[3]s, namespace: %[1]s}
spec:
  endpointRef: {name: %[2]s}
  approval: Manual
  reason: the destination was down
`, Namespace, endpoint, name, v1alpha1.GroupVersion)
	if _, err := w.Apply(ctx, manifest); err != nil {
		return err
	}
	replay := "dreplay/" + name
	for _, step := range [][]string{
		{"wait", "-n", Namespace, replay, "--for=condition=Counted", "--timeout=90s"},
		{"get", "dreplay", "-n", Namespace},
		{"patch", "-n", Namespace, replay, "--type=merge", "-p", `{"spec":{"approval":"Automatic"}}`},
		{"wait", "-n", Namespace, replay, "--for=condition=Complete", "--timeout=90s"},
		{"get", "whe,dreplay", "-n", Namespace},
	} {
		if err := w.show(ctx, step...); err != nil {
			return err
		}
	}
	return nil
}
