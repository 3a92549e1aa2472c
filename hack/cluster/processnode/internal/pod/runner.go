// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pod runs one pod: its init containers one after another, its containers side by side,
// with their volumes, probes and restarts, until the pod has ended or is told to stop.
package pod

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/downward"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/image"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/objects"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/probe"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/process"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/token"
)

// Node is what all pods of a node share.
type Node struct {
	Images      image.Store
	Starter     *process.Starter
	Objects     objects.Reader
	Delay       *objects.Delay
	Tokens      token.Issuer
	Server      token.Server
	PodsDir     string // a folder per pod, removed with the pod
	LogDir      string // <namespace>_<pod>_<container>.log
	HostIP      string
	Allocatable corev1.ResourceList
	Backoff     Backoff
	// Event tells people what happened to a pod; kind is Normal or Warning.
	Event func(pod *corev1.Pod, kind, reason, message string)
	Log   *slog.Logger
}

// Runner runs one pod. Its methods are safe for concurrent use.
type Runner struct {
	node    *Node
	log     *slog.Logger
	uid     types.UID
	ip      string
	changed func() // is called after each change of the status; does not block
	content *content
	tokens  *token.Holder

	stopping context.Context //nolint:containedctx // ends when the pod must stop
	alive    context.Context //nolint:containedctx // ends when the pod's processes must be gone
	stop     context.CancelFunc
	kill     context.CancelFunc
	ended    chan struct{}

	projecting sync.Mutex // one writer of volumes at a time
	projected  bool       // the volumes have been written for the first time

	mu         sync.Mutex
	pod        *corev1.Pod
	inits      []*container
	mains      []*container
	conditions []corev1.PodCondition
	account    string // path of the kubeconfig; empty if the pod has none
	started    metav1.Time
	killAt     time.Time
	killTimer  *time.Timer
	force      bool // the pod was told to stop with no time at all
	over       bool // all containers have ended for good
}

// container is one container of the pod. The fields are guarded by the runner's mutex.
type container struct {
	name   string
	init   bool
	index  int
	status corev1.ContainerStatus
	health *probe.Health // of the running process
	runs   []int64       // where the output of each run begins in the log
	killed chan string   // the probe because of which the process must be killed
}

// New prepares a pod with the address given. If the pod's status says that it ran before (on a
// node that is gone since), the restart counts go on from there.
func New(node *Node, pod *corev1.Pod, ip string, changed func()) *Runner {
	r := &Runner{
		node: node, pod: pod.DeepCopy(), uid: pod.UID, ip: ip, changed: changed,
		log:     node.Log.With("namespace", pod.Namespace, "pod", pod.Name),
		tokens:  node.Tokens.For(pod),
		ended:   make(chan struct{}),
		started: metav1.Now(),
	}
	r.content = newContent(pod, node.Delay.Next, r.project)
	r.stopping, r.stop = context.WithCancel(context.Background())
	r.alive, r.kill = context.WithCancel(context.Background())
	for i := range pod.Spec.InitContainers {
		r.inits = append(r.inits, newContainer(&pod.Spec.InitContainers[i], i, true, pod.Status.InitContainerStatuses))
	}
	for i := range pod.Spec.Containers {
		r.mains = append(r.mains, newContainer(&pod.Spec.Containers[i], i, false, pod.Status.ContainerStatuses))
	}
	r.setConditions()
	return r
}

func newContainer(spec *corev1.Container, index int, init bool, former []corev1.ContainerStatus) *container {
	c := &container{name: spec.Name, init: init, index: index, killed: make(chan string, 1)}
	c.status = corev1.ContainerStatus{Name: spec.Name, Image: spec.Image, Started: new(false)}
	c.status.State.Waiting = &corev1.ContainerStateWaiting{Reason: reasonCreating}
	for i := range former {
		if former[i].Name != spec.Name || former[i].ContainerID == "" {
			continue
		}
		c.status.RestartCount = former[i].RestartCount + 1
		c.status.LastTerminationState = former[i].LastTerminationState
		if former[i].State.Terminated != nil {
			c.status.LastTerminationState.Terminated = former[i].State.Terminated
		}
		if former[i].State.Running != nil {
			c.status.LastTerminationState.Terminated = lostState(former[i].State.Running.StartedAt)
		}
	}
	return c
}

// Run runs the pod until it has ended. It must be called once.
func (r *Runner) Run() {
	defer close(r.ended)
	r.run()
	r.stop()
	r.kill()
	r.finish()
}

func (r *Runner) run() {
	if r.wasLost() || !r.prepare() {
		return
	}
	if r.tokens.RenewAt().IsZero() {
		r.log.Info("pod runs", "address", r.ip)
	} else {
		go r.renewTokens()
		r.log.Info("pod runs", "address", r.ip, "serviceAccount", r.pod.Spec.ServiceAccountName)
	}
	for _, c := range r.inits {
		if !r.keepRunning(c) {
			return
		}
	}
	var running sync.WaitGroup
	for _, c := range r.mains {
		running.Go(func() { r.keepRunning(c) })
	}
	running.Wait()
}

// wasLost ends a pod which may not run a second time, but ran before on a node that is gone.
func (r *Runner) wasLost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pod.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return false
	}
	lost := false
	for _, c := range slices.Concat(r.inits, r.mains) {
		lost = lost || c.status.RestartCount > 0
	}
	return lost
}

// finish gives each container its last state and removes what the pod had on disk, except its logs.
func (r *Runner) finish() {
	r.update(func() {
		r.over = true
		for _, c := range slices.Concat(r.inits, r.mains) {
			settle(&c.status)
		}
	})
	r.removeFolder()
	r.log.Info("pod ended", "phase", r.Status().Phase)
}

// Stop ends the pod: preStop, SIGTERM, and SIGKILL when the time is over. A second call can only
// shorten the time. Zero or less kills at once.
func (r *Runner) Stop(grace time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := time.Now().Add(grace)
	if r.killTimer != nil {
		if !at.Before(r.killAt) {
			return
		}
		r.killTimer.Stop()
	}
	r.killAt = at
	r.killTimer = time.AfterFunc(max(0, grace), r.kill)
	if grace <= 0 {
		r.force = true
		r.kill()
	}
	r.stop()
}

// Ended is closed when no process of the pod is left and its status is final.
func (r *Runner) Ended() <-chan struct{} { return r.ended }

// UID is the pod's own identity: a later pod may have the same name.
func (r *Runner) UID() types.UID { return r.uid }

// IP is the pod's address.
func (r *Runner) IP() string { return r.ip }

// Pod is a copy of the pod with its current status.
func (r *Runner) Pod() *corev1.Pod {
	r.mu.Lock()
	pod := r.pod.DeepCopy()
	r.mu.Unlock()
	pod.Status = r.Status()
	return pod
}

// Update takes over a changed pod. Labels and annotations reach the volumes that show them;
// another image is used from the container's next run on.
func (r *Runner) Update(pod *corev1.Pod) {
	r.update(func() { r.pod = pod.DeepCopy() })
	r.project()
}

// ObjectChanged hears of a new state of a Secret or ConfigMap, or of its deletion.
func (r *Runner) ObjectChanged(key objects.Key, object objects.Content, deleted bool) {
	r.content.change(key, object, deleted)
}

// update changes the state under the lock and tells of it.
func (r *Runner) update(change func()) {
	r.mu.Lock()
	change()
	r.setConditions()
	r.mu.Unlock()
	r.changed()
}

func (r *Runner) facts() downward.Facts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return downward.Facts{Pod: r.pod, PodIP: r.ip, HostIP: r.node.HostIP, Allocatable: r.node.Allocatable}
}

func (r *Runner) spec(c *container) *corev1.Container {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.init {
		return &r.pod.Spec.InitContainers[c.index]
	}
	return &r.pod.Spec.Containers[c.index]
}

func (r *Runner) event(kind, reason, message string) {
	r.node.Event(r.facts().Pod, kind, reason, message)
}

func (r *Runner) folder() string { return filepath.Join(r.node.PodsDir, string(r.uid)) }

// sleep waits, and reports whether the pod goes on.
func (r *Runner) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.stopping.Done():
		return false
	}
}
