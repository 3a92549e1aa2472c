// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command receiver is the data plane of one endpoint: serve takes deliveries, migrate, prune and replay work on the
// ledger. For people, send plays the provider, verify and doctor judge a captured delivery, prove tries a staging endpoint.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version of the build, set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
