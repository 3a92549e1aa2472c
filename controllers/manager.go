// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers puts the controllers, one in each folder below, into one manager.
package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/controllers/deliveryreplay"
	"github.com/hookonce/hookonce/controllers/secretrotation"
	"github.com/hookonce/hookonce/controllers/webhookendpoint"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/rotation"
)

const (
	// recorderName is the reporting controller of events.
	recorderName = "hookonce-operator"
	// leaseName of the leader election.
	leaseName = "hookonce-operator"
	// requestsPerSecond and burst bound the requests to the API server: a pass of each endpoint every ten seconds reads one
	// Secret, and three every thirty seconds.
	requestsPerSecond = 100
	burst             = 200
	// concurrency is how many endpoints are reconciled at once: receivers that do not answer take two seconds each.
	concurrency = 8
)

// Options are the settings of the operator.
type Options struct {
	// Render are the settings that go into what is rendered.
	Render render.Settings
	// StatusInterval is how often receivers are asked for their status.
	StatusInterval time.Duration
	// SecretInterval is how often the Secrets that specs name are read.
	SecretInterval time.Duration
	// PropagationInterval is how often receivers are asked while a new secret is on its way to them.
	PropagationInterval time.Duration
	// Namespaces that are served; empty for all.
	Namespaces []string
	// MetricsAddress and ProbeAddress are listened on; "0" switches one off.
	MetricsAddress string
	ProbeAddress   string
	// LeaderElection lets one of several operators act at a time.
	LeaderElection bool
}

// Scheme returns the kinds that the operator deals with.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	return scheme, nil
}

// NewManager returns a manager that runs every controller once it is started.
func NewManager(ctx context.Context, config *rest.Config, options Options) (manager.Manager, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = requestsPerSecond, burst
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         CacheOptions(options.Namespaces),
		Client:                        ClientOptions(),
		Metrics:                       metricsserver.Options{BindAddress: options.MetricsAddress},
		HealthProbeBindAddress:        options.ProbeAddress,
		LeaderElection:                options.LeaderElection,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       options.Render.OperatorNamespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return nil, fmt.Errorf("register probes: %w", err)
	}
	if err := register(ctx, mgr, options); err != nil {
		return nil, err
	}
	return mgr, nil
}

// register adds the controllers to the manager.
func register(ctx context.Context, mgr manager.Manager, options Options) error {
	recorder := mgr.GetEventRecorder(recorderName)
	endpoints := webhookendpoint.New(mgr.GetClient(), mgr.GetAPIReader(), recorder, time.Now, webhookendpoint.Options{
		Render:         options.Render,
		StatusInterval: options.StatusInterval,
		SecretInterval: options.SecretInterval,
		Concurrency:    concurrency,
	})
	if err := endpoints.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("set up the controller of WebhookEndpoints: %w", err)
	}
	rotations := secretrotation.New(mgr.GetClient(), mgr.GetAPIReader(), recorder, time.Now, rotation.Intervals{
		Propagation: options.PropagationInterval,
		Status:      options.StatusInterval,
		Secret:      options.SecretInterval,
	})
	if err := rotations.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("set up the controller of SecretRotations: %w", err)
	}
	replays := deliveryreplay.New(mgr.GetClient(), mgr.GetAPIReader(), recorder, time.Now, deliveryreplay.Options{
		Render: options.Render, Interval: options.StatusInterval,
	})
	if err := replays.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the controller of DeliveryReplays: %w", err)
	}
	return nil
}

// ClientOptions returns how the operator reads: everything from the cache, but Secrets from the API server, one by name.
// A cache of Secrets would hold every Secret of the cluster, and need the right to list them.
func ClientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}}
}
