// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-hookonce is the plugin kubectl hookonce: it writes the manifests by which people tell the operator what to
// do, and says what to do next.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hookonce/hookonce/internal/plugin"
)

// version of the build, set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(plugin.Run(ctx, os.Args[1:], plugin.Environment{Out: os.Stdout, Err: os.Stderr, Now: time.Now, Version: version}))
}
