// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
)

const operatorNamespace = "hookonce-system"

// installRBAC applies config/rbac.
func installRBAC(t *testing.T, admin client.Client) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}}
	if err := admin.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "config", "rbac", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no RBAC: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &object.Object); err != nil {
			t.Fatal(err)
		}
		if object.GetKind() == "Kustomization" {
			continue
		}
		if err := admin.Create(t.Context(), object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// shop is a namespace with one endpoint, whose receivers are servers of the test.
type shop struct {
	t         *testing.T
	admin     client.Client
	namespace string
	// asked counts the requests for a receiver's status.
	asked atomic.Int64
}

func endpoint() *v1alpha1.WebhookEndpoint {
	out := &v1alpha1.WebhookEndpoint{ObjectMeta: metav1.ObjectMeta{Name: "payments"}}
	out.Spec.Verification.Scheme = v1alpha1.SchemePaymos
	out.Spec.Verification.SecretRef = v1alpha1.SecretKeyReference{Name: "signing", Key: "secret"}
	out.Spec.Database.SecretRef = v1alpha1.SecretKeyReference{Name: "database", Key: "uri"}
	return out
}

func secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{key: []byte(value)}}
}

func (s *shop) create(objects ...client.Object) {
	s.t.Helper()
	for _, object := range objects {
		object.SetNamespace(s.namespace)
		if err := s.admin.Create(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *shop) get(object client.Object, name string) {
	s.t.Helper()
	if err := s.admin.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, object); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) endpoint() *v1alpha1.WebhookEndpoint {
	s.t.Helper()
	out := &v1alpha1.WebhookEndpoint{}
	s.get(out, "payments")
	return out
}

func (s *shop) ring() *keyring.Keyring {
	s.t.Helper()
	out := &corev1.Secret{}
	s.get(out, render.NamesOf("payments").Keyring)
	ring, err := keyring.Parse(out.Data[keyring.FileName])
	if err != nil {
		s.t.Fatal(err)
	}
	return ring
}

// is returns a check of a condition of the endpoint.
func (s *shop) is(kind string, status metav1.ConditionStatus, reason string) func() error {
	return func() error {
		found := meta.FindStatusCondition(s.endpoint().Status.Conditions, kind)
		if found == nil || found.Status != status || found.Reason != reason {
			return fmt.Errorf("%s is %+v, want %s/%s", kind, found, status, reason)
		}
		return nil
	}
}

// deployed says whether the last child is there.
func (s *shop) deployed() error {
	key := client.ObjectKey{Namespace: s.namespace, Name: render.NamesOf("payments").Prune}
	return s.admin.Get(s.t.Context(), key, &batchv1.CronJob{})
}

// run makes ready receivers, as the Deployment controller and the kubelet would.
func (s *shop) run(replicas int32) {
	s.t.Helper()
	for i := range replicas {
		server := httptest.NewServer(http.HandlerFunc(s.status))
		s.t.Cleanup(server.Close)
		s.pod(fmt.Sprintf("payments-%d", i), server.Listener.Addr())
	}
	deployment := &appsv1.Deployment{}
	s.get(deployment, render.NamesOf("payments").Receiver)
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas,
	}
	if err := s.admin.Status().Update(s.t.Context(), deployment); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) pod(name string, at net.Addr) {
	s.t.Helper()
	host, text, err := net.SplitHostPort(at.String())
	if err != nil {
		s.t.Fatal(err)
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		s.t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: render.Labels("payments", render.NameReceiver)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: render.ContainerReceiver, Image: "hookonce:test",
			Ports: []corev1.ContainerPort{{Name: receiverstatus.PrivatePort, ContainerPort: int32(port)}},
		}}},
	}
	s.create(pod)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: host, PodIPs: []corev1.PodIP{{IP: host}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	if err := s.admin.Status().Update(s.t.Context(), pod); err != nil {
		s.t.Fatal(err)
	}
}

// status answers as a receiver whose mounted folders follow at once.
func (s *shop) status(w http.ResponseWriter, request *http.Request) {
	s.asked.Add(1)
	config, mounted, names := &corev1.ConfigMap{}, &corev1.Secret{}, render.NamesOf("payments")
	// The operator may go away in the middle of it.
	err := errors.Join(
		s.admin.Get(request.Context(), client.ObjectKey{Namespace: s.namespace, Name: names.Receiver}, config),
		s.admin.Get(request.Context(), client.ObjectKey{Namespace: s.namespace, Name: names.Keyring}, mounted))
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	ring, err := keyring.Parse(mounted.Data[keyring.FileName])
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	answer := receiverstatus.Status{
		Endpoint:   s.namespace + "/payments",
		Config:     receiverstatus.Config{Digest: receiverconfig.Digest([]byte(config.Data[receiverconfig.FileName]))},
		Keyring:    receiverstatus.Keyring{Revision: ring.Revision},
		Database:   receiverstatus.Database{Reachable: true, Reason: "Connected", Checked: time.Now(), Durable: true},
		Deliveries: &receiverstatus.Deliveries{Observed: time.Now(), Received: 1, Processed: 1},
	}
	for _, entry := range ring.Accepted(time.Now()) {
		answer.Secrets = append(answer.Secrets, receiverstatus.Secret{Fingerprint: entry.Fingerprint, NotAfter: entry.NotAfter})
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
