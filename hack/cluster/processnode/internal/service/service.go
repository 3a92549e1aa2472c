// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package service puts the node together and runs it.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/address"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/image"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/objects"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/pod"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/process"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/provider"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/token"
)

// Options are what the command line says.
type Options struct {
	Kubeconfig string
	NodeName   string
	NodeIP     string
	Port       string // for logs; "0": any
	PodCIDR    string
	ImagesDir  string
	StateDir   string
	LogDir     string
	Delay      *objects.Delay
	Grace      time.Duration // the longest time that a pod gets when the node stops
	Guard      []string      // the command that ends in process.RunGuard
}

// Run is the node's life, until the context ends. It leaves no process and no file behind, except
// the logs.
func Run(ctx context.Context, o Options, log *slog.Logger) (err error) {
	config, client, err := connect(o.Kubeconfig)
	if err != nil {
		return err
	}
	state, err := openState(o.StateDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.close()) }()
	guard, err := process.StartGuard(o.Guard[0], o.Guard[1:]...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guard.Close()) }()

	events := newEvents(client, o.NodeName)
	defer events.stop()
	pods, err := podSettings(o, config, client, state, process.NewStarter(guard), events, log)
	if err != nil {
		return err
	}
	addresses, err := address.NewPool(o.PodCIDR)
	if err != nil {
		return err
	}
	watch := newInformers(client, o.NodeName)
	p := provider.New(pods, addresses, client.CoreV1(), watch.pods.Core().V1().Pods().Lister(), log)
	logs, err := p.ServeLogs(o.NodeIP, o.Port, pods.Server.CA)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, logs.Close()) }()
	if err := watch.register(p); err != nil {
		return err
	}

	podController, err := newPodController(p, watch, events)
	if err != nil {
		return fmt.Errorf("make the pod controller: %w", err)
	}
	nodeController, err := node.NewNodeController(
		node.NaiveNodeProvider{}, provider.NodeObject(o.NodeName, o.NodeIP, logs.Port()), client.CoreV1().Nodes(),
		node.WithNodeEnableLeaseV1(client.CoordinationV1().Leases(leaseNamespace), node.DefaultLeaseDuration),
	)
	if err != nil {
		return fmt.Errorf("make the node controller: %w", err)
	}
	err = runControllers(ctx, watch, podController, nodeController, log)
	log.Info("stopping all pods", "longest", o.Grace.String())
	p.Close(o.Grace)
	return err
}

func newPodController(p *provider.Provider, watch *watches, events *events) (*node.PodController, error) {
	return node.NewPodController(node.PodControllerConfig{
		PodClient: p.Client(), PodInformer: watch.pods.Core().V1().Pods(), EventRecorder: events.recorder, Provider: p,
		// The library wants these, but we resolve references ourselves; they are never started.
		ConfigMapInformer: watch.unused.Core().V1().ConfigMaps(), SecretInformer: watch.unused.Core().V1().Secrets(),
		ServiceInformer: watch.unused.Core().V1().Services(), SkipDownwardAPIResolution: true,

		SyncPodsFromKubernetesRateLimiter: retryDelays(), SyncPodsFromKubernetesShouldRetryFunc: retryAlways,
		DeletePodsFromKubernetesRateLimiter: retryDelays(), DeletePodsFromKubernetesShouldRetryFunc: retryAlways,
		SyncPodStatusFromProviderRateLimiter: retryDelays(), SyncPodStatusFromProviderShouldRetryFunc: retryAlways,
	})
}

// retryDelays are short at the end, so that the node catches up soon after an API server was away.
func retryDelays() workqueue.TypedRateLimiter[any] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[any](10*time.Millisecond, 2*time.Second)
}

// retryAlways replaces the library's limit of 20 attempts: an API server may be away for longer.
func retryAlways(context.Context, string, int, time.Time, error) (*time.Duration, error) {
	return nil, nil
}

func connect(kubeconfig string) (*rest.Config, kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 100, 200
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("use the kubeconfig: %w", err)
	}
	return config, client, nil
}

func podSettings(
	o Options, config *rest.Config, client kubernetes.Interface, state *state, starter *process.Starter, events *events, log *slog.Logger,
) (*pod.Node, error) {
	server, err := token.ServerOf(config)
	if err != nil {
		return nil, err
	}
	logDir, err := filepath.Abs(o.LogDir)
	if err != nil {
		return nil, fmt.Errorf("find the log folder: %w", err)
	}
	if err := os.MkdirAll(logDir, 0o755); err != nil {
		return nil, fmt.Errorf("make the log folder: %w", err)
	}
	imagesDir, err := filepath.Abs(o.ImagesDir)
	if err != nil {
		return nil, fmt.Errorf("find the folder of images: %w", err)
	}
	return &pod.Node{
		Images: image.Store{Dir: imagesDir}, Starter: starter, Objects: objects.Reader{Client: client.CoreV1()}, Delay: o.Delay,
		Tokens: token.Issuer{Client: client.CoreV1(), Now: time.Now}, Server: server,
		PodsDir: state.podsDir(), LogDir: logDir, HostIP: o.NodeIP, Allocatable: provider.Capacity(),
		Backoff: pod.DefaultBackoff, Event: events.event, Log: log,
	}, nil
}

// runControllers runs until the context ends, or one of the controllers does.
func runControllers(ctx context.Context, watch *watches, pods *node.PodController, nodes *node.NodeController, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch.start(ctx)
	go func() { _ = pods.Run(ctx, podWorkers) }()
	defer func() { cancel(); <-pods.Done() }()
	select {
	case <-pods.Ready():
	case <-pods.Done():
		return stopped(ctx, pods.Err())
	case <-ctx.Done():
		return nil
	}
	cache.WaitForCacheSync(ctx.Done(), watch.synced...)
	go func() { _ = nodes.Run(ctx) }()
	defer func() { cancel(); <-nodes.Done() }()
	select {
	case <-nodes.Ready():
		log.Info("the node is registered")
	case <-nodes.Done():
		return stopped(ctx, nodes.Err())
	case <-ctx.Done():
		return nil
	}
	select {
	case <-pods.Done():
		return stopped(ctx, pods.Err())
	case <-nodes.Done():
		return stopped(ctx, nodes.Err())
	case <-ctx.Done():
		return nil
	}
}

// stopped tells an end that was asked for from one that was not.
func stopped(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil && err == nil:
		return errors.New("a controller of the node ended by itself")
	case ctx.Err() == nil:
		return fmt.Errorf("run the node: %w", err)
	}
	return nil
}

// watches are the objects that the node follows.
type watches struct {
	pods    informers.SharedInformerFactory // of this node only
	objects informers.SharedInformerFactory
	unused  informers.SharedInformerFactory
	synced  []cache.InformerSynced
}
