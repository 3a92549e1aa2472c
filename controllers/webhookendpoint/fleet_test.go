// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
)

// receiver is a pod whose private port is a server of this test: the status goes over HTTP as it does in a cluster.
type receiver struct {
	mutex  sync.Mutex
	status receiverstatus.Status
	away   bool
}

func (r *receiver) set(edit func(*receiverstatus.Status)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	edit(&r.status)
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.away || request.URL.Path != receiverstatus.Path {
		http.Error(w, "away", http.StatusServiceUnavailable)
		return
	}
	if err := json.NewEncoder(w).Encode(r.status); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// fleet is the receivers of one endpoint.
type fleet []*receiver

// each changes what every receiver says.
func (f fleet) each(edit func(*receiverstatus.Status)) {
	for _, one := range f {
		one.set(edit)
	}
}

// run makes ready receiver pods for an endpoint whose children exist, as the Deployment controller and the kubelet would,
// and says in the Deployment's status that it has rolled out.
func (b *bench) run(endpoint string, replicas int) fleet {
	b.t.Helper()
	var all fleet
	for i := range replicas {
		one := &receiver{}
		server := httptest.NewServer(one)
		b.t.Cleanup(server.Close)
		b.pod(endpoint, fmt.Sprintf("%s-%d", endpoint, i), server.Listener.Addr())
		all = append(all, one)
	}
	deployment := &appsv1.Deployment{}
	b.get(deployment, render.NamesOf(endpoint).Receiver)
	n := int32(replicas)
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
	}
	if err := b.admin.Status().Update(b.t.Context(), deployment); err != nil {
		b.t.Fatal(err)
	}
	b.shown(deployment)
	b.load(endpoint, all)
	return all
}

// load lets receivers say that they have what is mounted now, and that all is well.
func (b *bench) load(endpoint string, all fleet) {
	b.t.Helper()
	config := &corev1.ConfigMap{}
	b.get(config, render.NamesOf(endpoint).Receiver)
	ring := b.ring(endpoint)
	all.each(func(status *receiverstatus.Status) {
		status.Config = receiverstatus.Config{Digest: receiverconfig.Digest([]byte(config.Data[receiverconfig.FileName]))}
		status.Keyring.Revision = ring.Revision
		status.Database = receiverstatus.Database{Reachable: true, Reason: "Connected", Checked: b.clock.now(), Durable: true}
		status.Secrets = []receiverstatus.Secret{{Fingerprint: ring.Current.Fingerprint, Role: receiverstatus.RoleCurrent}}
	})
}

func (b *bench) ring(endpoint string) *keyring.Keyring {
	b.t.Helper()
	secret := &corev1.Secret{}
	b.get(secret, render.NamesOf(endpoint).Keyring)
	ring, err := keyring.Parse(secret.Data[keyring.FileName])
	if err != nil {
		b.t.Fatal(err)
	}
	return ring
}

// pod makes a ready pod whose private port is at the given address.
func (b *bench) pod(endpoint, name string, at net.Addr) {
	b.t.Helper()
	host, portText, err := net.SplitHostPort(at.String())
	if err != nil {
		b.t.Fatal(err)
	}
	port, err := strconv.ParseInt(portText, 10, 32)
	if err != nil {
		b.t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: render.Labels(endpoint, render.NameReceiver)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: render.ContainerReceiver, Image: "hookonce:test",
			Ports: []corev1.ContainerPort{{Name: receiverstatus.PrivatePort, ContainerPort: int32(port)}},
		}}},
	}
	b.create(pod)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: host, PodIPs: []corev1.PodIP{{IP: host}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}},
	}
	if err := b.admin.Status().Update(b.t.Context(), pod); err != nil {
		b.t.Fatal(err)
	}
	b.shown(pod)
}

// counts are deliveries as a receiver reports them.
func counts(observed time.Time, received, pending, failed int64) *receiverstatus.Deliveries {
	return &receiverstatus.Deliveries{Observed: observed, Received: received, Processed: received, Pending: pending, Failed: failed}
}
