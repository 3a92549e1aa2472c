// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/hookonce/hookonce/controllers/secretrotation"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/rotation"
)

// server is the API server of this package's tests.
var server *rest.Config

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(controlplane.Main(m, func(c *rest.Config) { server = c }))
}

// intervals are short, so that tests that wait for the next look do not wait long.
var intervals = rotation.Intervals{
	Propagation: 50 * time.Millisecond, Status: 100 * time.Millisecond, Secret: 100 * time.Millisecond,
}

// clock is real time and whatever a test has let pass besides.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// pass lets time pass.
func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// operator starts the controllers for one namespace, and returns what stops them and waits until they have stopped.
func operator(t *testing.T, namespace string, clock *clock) (stop func()) {
	t.Helper()
	kinds, err := controlplane.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	anew := true
	mgr, err := ctrl.NewManager(server, ctrl.Options{
		Scheme:     kinds,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Client:     client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Controller: config.Controller{SkipNameValidation: &anew},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := secretrotation.New(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder("hookonce-operator"), clock.now, intervals)
	if err := r.SetupWithManager(ctx, mgr); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	var stopped atomic.Bool
	stop = func() {
		cancel()
		if stopped.CompareAndSwap(false, true) {
			if err := <-done; err != nil {
				t.Errorf("operator: %v", err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}
