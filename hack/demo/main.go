// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo tells the story of a shop that uses Hookonce on a real cluster, asserts every claim of it, and leaves the
// cluster up to look around. `demo down` ends what it left beside the cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hookonce/hookonce/test/story"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root, err := os.Getwd()
	if err == nil {
		err = run(ctx, story.New(root, os.Stdout), os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w *story.World, args []string) error {
	switch {
	case len(args) == 0:
		return tell(ctx, w)
	case len(args) == 1 && args[0] == "down":
		return w.Stop(ctx)
	default:
		return errors.New("usage: demo [down]")
	}
}

// tell sets the world up and plays every step; the first claim that is not true ends it.
func tell(ctx context.Context, w *story.World) error {
	began := time.Now()
	w.Say("Setting up. The first time builds Kubernetes, which takes about a quarter of an hour on two cores. A shop that an")
	w.Say("earlier demo left, its namespace and its database, is removed.")
	if err := w.Start(ctx); err != nil {
		return err
	}
	w.Say("Playing on a cluster whose node is: %s", w.Node())
	for i, step := range story.Steps() {
		w.Say("\n%d. %s", i+1, step.Title)
		if err := step.Play(ctx, w); err != nil {
			return fmt.Errorf("step %d (%s) does not hold: %w", i+1, step.Name, err)
		}
		w.Say("  holds")
	}
	w.Say("\nMemory")
	if err := w.Memory(ctx); err != nil {
		return err
	}
	w.Say("\nEverything holds, after %s. The cluster stays up:", time.Since(began).Round(time.Second))
	w.Say("  export KUBECONFIG=$(make -s kubeconfig)")
	w.Say("  alias kubectl=%s", w.KubectlPath())
	w.Say("  kubectl get whe,srot -n shop -o wide")
	w.Say("  kubectl describe whe payments -n shop")
	w.Say("  kubectl explain whe.spec")
	w.Say("make demo-down ends the demo and the cluster.")
	return nil
}
