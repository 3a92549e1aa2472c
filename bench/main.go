// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures Hookonce against the limit of the machine, and against what people would write instead.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookonce/hookonce/bench/rig"
	"github.com/hookonce/hookonce/bench/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // Nothing is left to end.
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "rig" {
		return rig.Main(args[1:])
	}
	return suite.Main(ctx, args)
}
