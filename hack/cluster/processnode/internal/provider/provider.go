// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package provider is the node as Kubernetes sees it: it turns the pods that are bound to it into
// running ones, and tells the API server what became of them.
package provider

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/address"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/pod"
)

// Provider runs the pods of one node. It implements node.PodLifecycleHandler and
// node.PodNotifier of the virtual-kubelet library.
type Provider struct {
	node      *pod.Node
	addresses *address.Pool
	client    typedcorev1.PodsGetter
	lister    corev1listers.PodLister
	log       *slog.Logger

	// background ends when the provider closes; nothing is reported any more after that.
	background context.Context //nolint:containedctx // the provider's own life, not a call's
	close      context.CancelFunc

	mu      sync.Mutex
	entries map[types.UID]*entry
	serial  int
	notify  func(*corev1.Pod)
	running sync.WaitGroup
}

// entry is a pod that the provider knows: until the API server has it no more.
type entry struct {
	*pod.Runner
	serial          int
	namespace, name string
	dirty           chan struct{} // the status has changed
	deleting        bool          // the API object is to be deleted when the pod has ended
}

// New makes a provider without pods.
func New(
	node *pod.Node, addresses *address.Pool, client typedcorev1.PodsGetter, lister corev1listers.PodLister, log *slog.Logger,
) *Provider {
	p := &Provider{
		node: node, addresses: addresses, client: client, lister: lister, log: log,
		entries: make(map[types.UID]*entry),
	}
	p.background, p.close = context.WithCancel(context.Background())
	return p
}

// NotifyPods takes the function that is to be told of each change of a pod's status.
func (p *Provider) NotifyPods(_ context.Context, notify func(*corev1.Pod)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notify = notify
}

// CreatePod begins to run a pod. It fails only when there is no address for the pod; whatever
// else is missing is waited for and shown in the pod's status.
func (p *Provider) CreatePod(_ context.Context, created *corev1.Pod) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.background.Err() != nil || p.entries[created.UID] != nil {
		return nil
	}
	ip := p.node.HostIP
	if !created.Spec.HostNetwork {
		var err error
		if ip, err = p.addresses.Take(); err != nil {
			return err
		}
	}
	p.serial++
	e := &entry{serial: p.serial, namespace: created.Namespace, name: created.Name, dirty: make(chan struct{}, 1)}
	e.Runner = pod.New(p.node, created, ip, func() {
		select {
		case e.dirty <- struct{}{}:
		default:
		}
	})
	p.entries[created.UID] = e
	e.dirty <- struct{}{}
	p.running.Go(func() {
		go p.publish(e)
		e.Run()
		p.addresses.Release(ip)
		p.retire(e)
	})
	return nil
}

// publish tells of the changes of a pod's status until the pod has ended; retire tells the last.
func (p *Provider) publish(e *entry) {
	for {
		select {
		case <-e.Ended():
			return
		case <-p.background.Done():
			return
		case <-e.dirty:
		}
		p.mu.Lock()
		notify := p.notify
		p.mu.Unlock()
		notify(e.Pod())
	}
}

// UpdatePod takes over what may change in a pod that exists.
func (p *Provider) UpdatePod(_ context.Context, updated *corev1.Pod) error {
	if e := p.find(updated.UID); e != nil {
		e.Update(updated)
	}
	return nil
}

// DeletePod begins to stop a pod in the time that its deletion gives. A pod without a time of
// deletion is one that the API server no longer has: it is killed.
func (p *Provider) DeletePod(ctx context.Context, deleted *corev1.Pod) error {
	e := p.find(deleted.UID)
	switch {
	case e == nil && deleted.DeletionTimestamp != nil:
		// It was running on an earlier life of this node, and is not any more.
		if err := p.deleteObject(ctx, deleted.Namespace, deleted.Name, deleted.UID); err != nil {
			return err
		}
		return errdefs.NotFound("no such pod on this node")
	case e == nil:
		return errdefs.NotFound("no such pod on this node")
	case deleted.DeletionTimestamp == nil:
		e.Stop(0)
		return nil
	default:
		p.stopForDeletion(e, deleted)
		return nil
	}
}

// stopForDeletion stops a pod and has its API object deleted afterwards.
func (p *Provider) stopForDeletion(e *entry, deleted *corev1.Pod) {
	p.mu.Lock()
	e.deleting = true
	p.mu.Unlock()
	grace := pod.Grace(deleted)
	if deleted.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*deleted.DeletionGracePeriodSeconds) * time.Second
	}
	e.Stop(grace)
	if ended(e) {
		p.running.Go(func() { p.retire(e) })
	}
}

func ended(e *entry) bool {
	select {
	case <-e.Ended():
		return true
	default:
		return false
	}
}

// GetPod is the pod of that name that runs here, unless the API server has another one of the
// same name by now.
func (p *Provider) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	for _, e := range p.all() {
		if e.namespace != namespace || e.name != name {
			continue
		}
		current, err := p.lister.Pods(namespace).Get(name)
		if err == nil && current.UID != e.UID() {
			continue
		}
		return e.Pod(), nil
	}
	return nil, errdefs.NotFoundf("no pod %s/%s on this node", namespace, name)
}

// GetPodStatus is the status of a pod that GetPod finds.
func (p *Provider) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	found, err := p.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &found.Status, nil
}

// GetPods lists all pods of this node.
func (p *Provider) GetPods(context.Context) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	for _, e := range p.all() {
		pods = append(pods, e.Pod())
	}
	return pods, nil
}

// Gone hears that the API server no longer has a pod: it is killed and forgotten.
func (p *Provider) Gone(uid types.UID) {
	e := p.find(uid)
	if e == nil {
		return
	}
	e.Stop(0)
	if ended(e) {
		p.forget(e)
	}
}

// Close stops all pods, each in its own time but none longer than most, and waits until no
// process is left. Nothing is reported to the API server: it may be gone already.
func (p *Provider) Close(most time.Duration) {
	p.close()
	for _, e := range p.all() {
		e.Stop(min(pod.Grace(e.Pod()), most))
	}
	p.running.Wait()
}

func (p *Provider) find(uid types.UID) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entries[uid]
}

func (p *Provider) forget(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.entries, e.UID())
}

// all lists the pods in the order in which they came.
func (p *Provider) all() []*entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	entries := make([]*entry, 0, len(p.entries))
	for _, e := range p.entries {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.serial, b.serial) })
	return entries
}
