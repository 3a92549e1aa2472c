// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
)

// collectedAfter is how long the garbage collector waits since the endpoint was deleted and receivers were last asked: a pass
// that is under way then has come to its end. What it made after the collection would be made and collected once more.
const collectedAfter = time.Second

// receiver answers as a receiver does whose mounted folders follow at once.
type receiver struct {
	shop   *shop
	server *httptest.Server
	// told is the revision of the keyring that it has last told the operator of.
	told atomic.Int64
}

func newReceiver(s *shop) *receiver {
	r := &receiver{shop: s}
	r.server = httptest.NewServer(r)
	s.t.Cleanup(r.server.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	ring := r.shop.mounted()
	config := r.shop.find("configmaps", render.NamesOf(payments).Receiver)
	if ring == nil || config == nil {
		http.Error(w, "nothing is mounted", http.StatusServiceUnavailable)
		return
	}
	document, _, err := unstructured.NestedString(config.Object, "data", receiverconfig.FileName)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	now := r.shop.clock.now()
	answer := receiverstatus.Status{
		Endpoint:   r.shop.namespace + "/" + payments,
		Config:     receiverstatus.Config{Digest: receiverconfig.Digest([]byte(document))},
		Keyring:    receiverstatus.Keyring{Revision: ring.Revision},
		Database:   receiverstatus.Database{Reachable: true, Reason: "Connected", Checked: now, Durable: true},
		Deliveries: &receiverstatus.Deliveries{Observed: now, Received: 1, Processed: 1},
	}
	for _, entry := range ring.Accepted(now) {
		answer.Secrets = append(answer.Secrets, receiverstatus.Secret{Fingerprint: entry.Fingerprint, NotAfter: entry.NotAfter})
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		return
	}
	r.told.Store(ring.Revision)
	r.shop.asked.Add(1)
}

// loaded is the revision that every receiver has told the operator of.
func (s *shop) loaded() int64 {
	least := s.receivers[0].told.Load()
	for _, r := range s.receivers {
		least = min(least, r.told.Load())
	}
	return least
}

// pods are the receivers' names.
func (s *shop) podName(i int) string { return fmt.Sprintf("%s-%d", payments, i) }

// runCluster is the Deployment controller, the kubelet and the garbage collector of the namespace, until the context ends.
func (s *shop) runCluster(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	running, last := false, int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		versions := s.versions.Load()
		if versions == last && running && s.find(endpoints, payments) != nil {
			continue
		}
		deployment := &appsv1.Deployment{}
		wanted := s.as("deployments", render.NamesOf(payments).Receiver, deployment)
		var err error
		switch {
		case wanted && !running:
			err, running = s.startPods(ctx), true
		case !wanted && running:
			err, running = s.stopPods(ctx), false
		}
		if err == nil && wanted {
			err = s.rollOut(ctx, deployment)
		}
		if err == nil {
			err = s.collect(ctx)
		}
		if err == nil {
			last = versions
		}
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			s.t.Errorf("cluster: %v", err)
			return
		}
	}
}

// rollOut says of a Deployment that all its pods are of its newest template.
func (s *shop) rollOut(ctx context.Context, deployment *appsv1.Deployment) error {
	if deployment.Status.ObservedGeneration == deployment.Generation {
		return nil
	}
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           int32(len(s.receivers)), UpdatedReplicas: int32(len(s.receivers)), ReadyReplicas: int32(len(s.receivers)),
	}
	return s.admin.Status().Update(ctx, deployment)
}

func (s *shop) startPods(ctx context.Context) error {
	for i, r := range s.receivers {
		at := r.server.Listener.Addr().(*net.TCPAddr)
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: s.podName(i), Namespace: s.namespace, Labels: render.Labels(payments, render.NameReceiver),
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: render.ContainerReceiver, Image: "hookonce:test",
				Ports: []corev1.ContainerPort{{Name: receiverstatus.PrivatePort, ContainerPort: int32(at.Port)}},
			}}},
		}
		if err := s.admin.Create(ctx, pod); err != nil {
			return err
		}
		pod.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: at.IP.String(), PodIPs: []corev1.PodIP{{IP: at.IP.String()}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		}
		if err := s.admin.Status().Update(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

func (s *shop) stopPods(ctx context.Context) error {
	for i := range s.receivers {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: s.podName(i), Namespace: s.namespace}}
		if err := s.admin.Delete(ctx, pod, client.GracePeriodSeconds(0)); err != nil {
			return err
		}
	}
	return nil
}

// collect removes what belongs to an object that is gone.
func (s *shop) collect(ctx context.Context) error {
	for _, object := range s.orphans() {
		uid := object.GetUID()
		err := s.admin.Delete(ctx, object, client.Preconditions{UID: &uid})
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func (s *shop) orphans() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var owner string
	if endpoint := s.objects[key{endpoints, payments}]; endpoint != nil {
		owner = string(endpoint.GetUID())
	} else if asked := s.asked.Load(); asked != s.askedBefore {
		s.askedBefore, s.gone = asked, time.Now()
	}
	if time.Since(s.gone) < collectedAfter {
		return nil
	}
	var out []*unstructured.Unstructured
	for _, object := range s.objects {
		controller := metav1.GetControllerOf(object)
		// The watch of endpoints may be behind that of what belongs to one: only an owner that was seen can be gone.
		if controller == nil || string(controller.UID) == owner || s.names[string(controller.UID)] == "" {
			continue
		}
		out = append(out, object)
	}
	return out
}
