// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// Package e2e runs the story and the operator's behavior as tests, on a real node with a real kubelet where this machine
// can run containers, and on the process node where it cannot.
package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookonce/hookonce/test/story"
)

// world is shared by all tests: setting it up takes a minute.
var world *story.World

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	root, err := filepath.Abs("../..")
	if err != nil {
		fmt.Fprintln(os.Stderr, "find the checkout:", err)
		return 1
	}
	world = story.New(root, os.Stdout)
	if err := world.Start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		world.Diagnose(ctx)
		return 1
	}
	fmt.Printf("e2e runs on node: %s\n", world.Node())
	code := m.Run()
	if code != 0 {
		world.Diagnose(ctx)
	}
	if err := world.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "clean up:", err)
		return 1
	}
	return code
}

func TestStory(t *testing.T) {
	for _, step := range story.Steps() {
		t.Run(step.Name, func(t *testing.T) {
			if err := step.Play(t.Context(), world); err != nil {
				t.Errorf("%s: %v", step.Title, err)
			}
		})
	}
}
