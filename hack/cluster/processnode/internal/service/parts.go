// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/provider"
)

const (
	// podWorkers is how many pods are brought up to date at a time; a worker never waits for a pod.
	podWorkers     = 10
	leaseNamespace = corev1.NamespaceNodeLease
)

// state is the folder of the node's own files. A lock keeps a second node out of it.
type state struct {
	dir  string
	lock *os.File
}

func openState(dir string) (*state, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the state folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the state folder: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another node uses %s: %w", dir, err), lock.Close())
	}
	s := &state{dir: dir, lock: lock}
	// Left by a node that was killed.
	if err := os.RemoveAll(s.podsDir()); err != nil {
		return nil, errors.Join(fmt.Errorf("remove the pods of an earlier node: %w", err), lock.Close())
	}
	return s, nil
}

func (s *state) podsDir() string { return filepath.Join(s.dir, "pods") }

func (s *state) close() error {
	return errors.Join(os.RemoveAll(s.podsDir()), os.Remove(s.lock.Name()), s.lock.Close())
}

func newInformers(client kubernetes.Interface, nodeName string) *watches {
	ownPods := informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", nodeName).String()
	})
	return &watches{
		pods:    informers.NewSharedInformerFactoryWithOptions(client, 0, ownPods),
		objects: informers.NewSharedInformerFactory(client, 0),
		unused:  informers.NewSharedInformerFactory(client, 0),
	}
}

// register lets the provider hear of what it follows.
func (w *watches) register(p *provider.Provider) error {
	core := w.objects.Core().V1()
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		w.pods.Core().V1().Pods().Informer(): p.PodHandler(),
		core.Secrets().Informer():            p.ObjectHandler(),
		core.ConfigMaps().Informer():         p.ObjectHandler(),
	} {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return fmt.Errorf("follow objects: %w", err)
		}
		w.synced = append(w.synced, registration.HasSynced)
	}
	return nil
}

func (w *watches) start(ctx context.Context) {
	w.pods.Start(ctx.Done())
	w.objects.Start(ctx.Done())
}

// events tells people what happens to pods, through Event objects.
type events struct {
	recorder record.EventRecorder
	stop     func()
}

func newEvents(client kubernetes.Interface, nodeName string) *events {
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	source := corev1.EventSource{Component: "processnode", Host: nodeName}
	return &events{recorder: broadcaster.NewRecorder(scheme.Scheme, source), stop: broadcaster.Shutdown}
}

func (e *events) event(pod *corev1.Pod, kind, reason, message string) {
	e.recorder.Event(pod, kind, reason, message)
}
