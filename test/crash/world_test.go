// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// The resources that histories are kept of.
const (
	endpoints = "webhookendpoints"
	rotations = "secretrotations"
	secrets   = "secrets"
	events    = "events"
)

// watched is everything that the operator reads or writes, but pods.
var watched = []schema.GroupVersionResource{
	v1alpha1.GroupVersion.WithResource(endpoints),
	v1alpha1.GroupVersion.WithResource(rotations),
	{Version: "v1", Resource: secrets},
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "services"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "batch", Version: "v1", Resource: "cronjobs"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "events.k8s.io", Version: "v1", Resource: events},
}

// world sees every version of every object of every namespace, whatever goes wrong between an operator and the API server.
type world struct {
	mu    sync.Mutex
	shops map[string]*shop
}

// newWorld starts to watch. What is there already is not seen.
func newWorld(t *testing.T) *world {
	t.Helper()
	c, err := dynamic.NewForConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{shops: map[string]*shop{}}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, resource := range watched {
		list, err := c.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			t.Fatalf("list %s: %v", resource.Resource, err)
		}
		group.Go(func() {
			if err := w.follow(ctx, c.Resource(resource), resource.Resource, list.GetResourceVersion()); err != nil && ctx.Err() == nil {
				t.Errorf("watch %s: %v", resource.Resource, err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
	return w
}

var errWatchEnded = errors.New("ended")

// follow hands on each version of one kind of objects, in order.
func (w *world) follow(ctx context.Context, c dynamic.ResourceInterface, resource, from string) error {
	for {
		watcher, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true})
		if err != nil {
			return err
		}
		for event := range watcher.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok || event.Type == watch.Error {
				watcher.Stop()
				return fmt.Errorf("%w: %v", errWatchEnded, event.Object)
			}
			if from = object.GetResourceVersion(); event.Type == watch.Bookmark {
				continue
			}
			if shop := w.shop(object.GetNamespace()); shop != nil {
				shop.see(resource, event.Type, object)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (w *world) shop(namespace string) *shop {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shops[namespace]
}

func (w *world) add(s *shop) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shops[s.namespace] = s
}
