// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/hookonce/hookonce/receiver/ingest"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/receiver/snapshot"
	"github.com/hookonce/hookonce/receiver/verify"
)

// embedded is the receiver's own handler and ledger inside this program, where they can be profiled: the product has no
// door for that. Its relay is missing; a destination that never answers keeps the real one as idle.
func embedded(ctx context.Context, o Options) (http.Handler, func() error, error) {
	handler, err := Hookonce(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	finish, err := profile(o.Profile)
	return handler, finish, err
}

// Hookonce is the receiver's handler with its ledger; its relay is missing. The ledger is open until this program ends.
func Hookonce(ctx context.Context, o Options) (http.Handler, error) {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	mounts := snapshot.Open(snapshot.Options{ConfigDir: o.ConfigDir, KeyringDir: o.KeyringDir, Log: log})
	config := mounts.Current().Config
	if config == nil {
		return nil, errors.New("the configuration cannot be used")
	}
	l, err := ledger.Open(ctx, ledger.Options{
		URL: ledger.StaticURL(o.Database), Schema: config.Schema, Endpoint: config.Endpoint, Logger: log,
	})
	if err != nil {
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	current := mounts.Current()
	settings := &ingest.Settings{
		Path: current.Config.Path, Scheme: current.Config.Scheme, Secrets: current.Secrets,
		Tolerance: time.Duration(current.Config.Tolerance), MaxBodyBytes: current.Config.MaxBodyBytes,
		Route: current.Route,
	}
	handler, err := ingest.New(ingest.Options{
		Settings: func() *ingest.Settings { return settings },
		Verify:   verify.Verify, Ledger: l, Log: log, Used: mounts.Used,
	})
	if err != nil {
		return nil, fmt.Errorf("make the handler: %w", err)
	}
	return handler, nil
}

// profile begins to note where time goes, and returns what writes that down.
func profile(prefix string) (finish func() error, err error) {
	if prefix == "" {
		return nothing, nil
	}
	runtime.MemProfileRate = 64 << 10
	cpu, err := os.Create(prefix + ".cpu")
	if err != nil {
		return nil, fmt.Errorf("make the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(fmt.Errorf("start the profile: %w", err), cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		allocations, err := os.Create(prefix + ".allocs")
		if err != nil {
			return errors.Join(fmt.Errorf("make the profile: %w", err), cpu.Close())
		}
		return errors.Join(pprof.Lookup("allocs").WriteTo(allocations, 0), allocations.Close(), cpu.Close())
	}, nil
}
