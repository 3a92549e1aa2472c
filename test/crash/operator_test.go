// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/hookonce/hookonce/controllers"
	"github.com/hookonce/hookonce/controllers/secretrotation"
	"github.com/hookonce/hookonce/controllers/webhookendpoint"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/rotation"
)

const (
	// statusInterval and propagationInterval are how often receivers are asked, in real time.
	statusInterval      = 100 * time.Millisecond
	propagationInterval = 50 * time.Millisecond
	// secretInterval is how often a rotation looks for what it misses. Endpoints read their Secrets in each pass: by a clock
	// that stands still no interval ever ends.
	secretInterval = 100 * time.Millisecond
)

// clock stands still until somebody moves it: what an operator computes from the time is the same in each run.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// operator is one process of it, as far as the API server can tell.
type operator struct {
	crashed chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}
}

// startOperator runs the controllers for one namespace, with a transport that fails as the injector says.
func startOperator(t *testing.T, s *shop) *operator {
	t.Helper()
	kinds, err := controllers.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	between := &transport{
		injector: s.injector, decode: decoder(kinds), known: s.known, crashed: make(chan struct{}),
		broken: func(err error) { t.Errorf("between operator and API server: %v", err) },
	}
	config := rest.CopyConfig(server)
	config.QPS, config.Burst = 1000, 1000
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		between.next = next
		return between
	})
	ctx, cancel := context.WithCancel(context.Background())
	mgr, err := newManager(ctx, config, s)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	o := &operator{crashed: between.crashed, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		// What a dying operator says of its end is of no interest.
		if err := mgr.Start(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("operator: %v", err)
		}
	}()
	return o
}

// newManager is what controllers.NewManager makes, with the clock and the intervals of the test.
func newManager(ctx context.Context, restConfig *rest.Config, s *shop) (ctrl.Manager, error) {
	kinds, err := controllers.Scheme()
	if err != nil {
		return nil, err
	}
	anew, patience := true, time.Second
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                  kinds,
		Cache:                   controllers.CacheOptions([]string{s.namespace}),
		Client:                  controllers.ClientOptions(),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Controller:              config.Controller{SkipNameValidation: &anew},
		GracefulShutdownTimeout: &patience,
	})
	if err != nil {
		return nil, err
	}
	recorder := mgr.GetEventRecorder("hookonce-operator")
	ofEndpoints := webhookendpoint.New(mgr.GetClient(), mgr.GetAPIReader(), recorder, s.clock.now, webhookendpoint.Options{
		Render:         render.Settings{Image: "hookonce:test", OperatorNamespace: "hookonce-system"},
		StatusInterval: statusInterval,
		Concurrency:    2,
	})
	if err := ofEndpoints.SetupWithManager(ctx, mgr); err != nil {
		return nil, err
	}
	ofRotations := secretrotation.New(mgr.GetClient(), mgr.GetAPIReader(), recorder, s.clock.now, rotation.Intervals{
		Propagation: propagationInterval, Status: statusInterval, Secret: secretInterval,
	})
	return mgr, ofRotations.SetupWithManager(ctx, mgr)
}

// stop ends the operator, and waits until it has ended.
func (o *operator) stop() {
	o.cancel()
	<-o.done
}
