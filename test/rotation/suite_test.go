// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/controllers"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/test/postgres"
)

// minute is a minute of the cluster's, scaled.
const minute = time.Second

// What all tests of the package share.
var (
	server *rest.Config
	// binary is the receiver of this checkout, folder that of the run, and operatorLog the operator's log at its highest
	// level.
	binary, folder, operatorLog string
	pg                          *postgres.Server
)

func TestMain(m *testing.M) {
	os.Exit(controlplaneMain(m))
}

func controlplaneMain(m *testing.M) int {
	var failed error
	code := func() int {
		stop, err := build()
		defer stop()
		if err != nil {
			failed = err
			return 1
		}
		return controlplane.Main(m, func(config *rest.Config) { server = config })
	}()
	if failed != nil {
		fmt.Fprintln(os.Stderr, "set up:", failed)
	}
	return code
}

// build makes what needs no API server: the folder, the receiver, Postgres, and the log.
func build() (stop func(), err error) {
	stop = func() {}
	folder, err = os.MkdirTemp("", "hookonce-rotation-")
	if err != nil {
		return stop, fmt.Errorf("make the folder of the run: %w", err)
	}
	stop = func() { _ = os.RemoveAll(folder) }
	binary = filepath.Join(folder, "receiver")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/hookonce/hookonce/cmd/receiver").CombinedOutput()
	if err != nil {
		return stop, fmt.Errorf("build the receiver: %w: %s", err, out)
	}
	operatorLog = filepath.Join(folder, "operator.log")
	log, err := os.Create(operatorLog)
	if err != nil {
		return stop, fmt.Errorf("make the operator's log: %w", err)
	}
	logger := logr.FromSlogHandler(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.Level(math.MinInt8)}))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	pg, err = postgres.Start(postgres.Options{Settings: map[string]string{"max_connections": "300"}})
	if err != nil {
		return stop, err
	}
	return func() {
		_ = pg.StopImmediate()
		_ = log.Close()
		_ = os.RemoveAll(folder)
	}, nil
}

// operate starts the operator for every namespace, as its command does, with intervals that are scaled: once, for a
// controller's name is taken once in a process.
func operate(t *testing.T) {
	t.Helper()
	config := rest.CopyConfig(server)
	ctx, cancel := context.WithCancel(context.Background())
	manager, err := controllers.NewManager(ctx, config, controllers.Options{
		Render:         render.Settings{Image: "hookonce:test", OperatorNamespace: "hookonce-system"},
		StatusInterval: minute / 6, SecretInterval: minute / 2, PropagationInterval: minute / 30,
		MetricsAddress: "0", ProbeAddress: "0",
	})
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("operator: %v", err)
		}
	})
}
