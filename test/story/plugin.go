// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/plugin"
)

// hookonce runs a command of the kubectl plugin, prints both, and returns an error unless it prints each of the texts.
func (w *World) hookonce(ctx context.Context, args []string, texts ...string) error {
	w.Say("$ kubectl hookonce %s", typed(args))
	code, out, problem := w.runPlugin(ctx, args)
	for line := range strings.Lines(out) {
		w.Say("  %s", strings.TrimRight(line, "\n"))
	}
	if code != plugin.ExitOK {
		return fmt.Errorf("kubectl hookonce %s: exit code %d: %s", strings.Join(args, " "), code, problem)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			return fmt.Errorf("kubectl hookonce %s: %q is not in what it printed", strings.Join(args, " "), text)
		}
	}
	return nil
}

func (w *World) runPlugin(ctx context.Context, args []string) (code int, out, problem string) {
	var output, complaint bytes.Buffer
	code = plugin.Run(ctx, append(args, "--kubeconfig", w.cluster.kubeconfig), plugin.Environment{
		Out: &output, Err: &complaint, Now: time.Now, Version: "story",
	})
	return code, output.String(), complaint.String()
}

// lookBack shows what became of an event that failed and was replayed, and what came to its endpoint. The process node runs no
// commands in pods.
func (w *World) lookBack(ctx context.Context, endpoint, event string) error {
	if w.Node() == "process" {
		return nil
	}
	history := []string{"deliveries", endpoint, "-n", Namespace, "--event-id", event}
	if err := w.hookonce(ctx, history, event+" received", "Delivered to", "Failed", "replay "); err != nil {
		return err
	}
	mistake := []string{"deliveries", endpoint, "-n", Namespace, "--state", "failed"}
	if code, _, problem := w.runPlugin(ctx, mistake); code != plugin.ExitUsage || !strings.Contains(problem, "--state must be") {
		return fmt.Errorf("kubectl hookonce %s: exit code %d: %s", strings.Join(mistake, " "), code, problem)
	}
	return w.hookonce(ctx, []string{"audit", endpoint, "-n", Namespace, "--since", "1h"}, "0  events processed twice")
}
