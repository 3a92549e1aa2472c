// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/objects"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/volume"
)

// content is what a pod's volumes show of each Secret and ConfigMap. A change becomes visible
// after a delay of its own, and never after a later one did.
type content struct {
	optional map[objects.Key]bool // the objects that the pod refers to
	delay    func() time.Duration
	visible  func() // is called after a change has become visible

	mu    sync.Mutex
	known map[objects.Key]*known
}

type known struct {
	shown   *objects.Content // nil: there is no such object
	version string           // of the newest state that was heard of
	heard   int              // number of the newest change
	applied int              // number of the change that is shown
}

func newContent(pod *corev1.Pod, delay func() time.Duration, visible func()) *content {
	c := &content{
		optional: make(map[objects.Key]bool), delay: delay, visible: visible, known: make(map[objects.Key]*known),
	}
	for i := range pod.Spec.Volumes {
		for key, optional := range volume.References(&pod.Spec.Volumes[i], pod.Namespace) {
			previous, seen := c.optional[key]
			c.optional[key] = optional && (previous || !seen)
		}
	}
	return c
}

// load reads all objects for the first time. Changes that are heard of meanwhile wait for it.
func (c *content) load(ctx context.Context, read func(context.Context, objects.Key) (objects.Content, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, optional := range c.optional {
		object, err := read(ctx, key)
		switch {
		case err == nil:
			c.known[key] = &known{shown: &object, version: object.Version}
		case apierrors.IsNotFound(err) && optional:
			c.known[key] = &known{}
		default:
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// get is the object as it is shown now.
func (c *content) get(key objects.Key) (objects.Content, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.known[key]
	if k == nil || k.shown == nil {
		return objects.Content{}, false
	}
	return *k.shown, true
}

// change hears of a new state of an object: its content, or its deletion in that version. As with
// the kubelet, the files of a deleted object stay, unless the object is optional.
func (c *content) change(key objects.Key, object objects.Content, deleted bool) {
	optional, wanted := c.optional[key]
	if !wanted || deleted && !optional {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.known[key]
	if k == nil || !newer(object.Version, k.version) {
		return
	}
	k.version = object.Version
	k.heard++
	number := k.heard
	time.AfterFunc(c.delay(), func() { c.apply(k, number, object, deleted) })
}

func (c *content) apply(k *known, number int, object objects.Content, deleted bool) {
	c.mu.Lock()
	if number < k.applied {
		c.mu.Unlock()
		return
	}
	k.applied = number
	k.shown = &object
	if deleted {
		k.shown = nil
	}
	c.mu.Unlock()
	c.visible()
}

func newer(version, than string) bool {
	if than == "" {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err != nil || order > 0
}
