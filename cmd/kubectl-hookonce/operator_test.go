// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/controllers"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/plugin"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
)

// TestWithTheOperator lets the operator do what the commands ask for: a rotation, the revocation of the secret that it
// replaced, and that of one that the operator itself has replaced.
func TestWithTheOperator(t *testing.T) {
	s := newShop(t)
	s.now = time.Now
	s.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "database"}, Data: map[string][]byte{"uri": []byte("postgres://db/shop")},
	})
	s.receiver()
	s.operate()
	s.eventually("the secret is adopted", func() bool { return s.ring() != nil })

	s.secret("next", beta)
	s.expect(s.run("rotate", "payments", "--secret", "next", "--apply", "--wait", "--timeout", "30s"), plugin.ExitOK, "Propagated is True")
	if ring := s.ring(); string(ring.Current.Secret) != beta || len(ring.Previous) != 1 {
		t.Fatalf("after the rotation the keyring is %+v", ring)
	}
	s.expect(s.run("rotate", "payments", "--secret", "next", "--apply", "--wait"), plugin.ExitOK, "is there already: OverlapActive")
	s.expect(s.run("revoke", "payments", "--secret", "next", "--apply", "--wait", "--timeout", "30s"), plugin.ExitOK, "PreviousRetired is True")
	s.revoked(alpha, beta)

	// The endpoint names the Secret now, and its bytes change: the operator makes a rotation, with an overlap.
	s.update(s.endpoint, "payments", func() { s.endpoint.Spec.Verification.SecretRef.Name = "next" })
	secret := &corev1.Secret{}
	s.update(secret, "next", func() { secret.Data["secret"] = []byte(gamma) })
	s.eventually("the changed bytes are current", func() bool { return string(s.ring().Current.Secret) == gamma })
	s.expect(s.run("revoke", "payments", "--secret", "next", "--apply", "--wait"), plugin.ExitFailed, "payments-next is there already", "--name")
	s.expect(s.run("revoke", "payments", "--secret", "next", "--name", "leak", "--apply", "--wait", "--timeout", "30s"), plugin.ExitOK,
		"PreviousRetired is True")
	s.revoked(beta, gamma)
	if ready := meta.FindStatusCondition(s.find("leak").Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Reason != "Revoked" {
		t.Errorf("the rotation that took over is %+v", ready)
	}
}

// revoked fails the test unless one secret is revoked and the other alone is accepted.
func (s *shop) revoked(former, current string) {
	s.Helper()
	ring := s.ring()
	if ring.Standing(candidate(former, "", "")) != keyring.IsRevoked || ring.Standing(candidate(current, "", "")) != keyring.IsCurrent ||
		len(ring.Previous) != 0 {
		s.Errorf("the keyring is %+v", ring)
	}
}

// ring is the keyring as it is in the cluster; nil if there is none.
func (s *shop) ring() *keyring.Keyring {
	ring, err := s.readRing(s.Context())
	if err != nil && client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return ring
}

func (s *shop) readRing(ctx context.Context) (*keyring.Keyring, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.namespace, Name: render.NamesOf("payments").Keyring}
	if err := s.admin.Get(ctx, key, secret); err != nil {
		return nil, err
	}
	return keyring.Parse(secret.Data[keyring.FileName])
}

func (s *shop) update(object client.Object, name string, edit func()) {
	s.Helper()
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, object); err != nil {
		s.Fatal(err)
	}
	edit()
	if err := s.admin.Update(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) eventually(what string, check func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-ctx.Done():
			s.Fatal("never: ", what)
		case <-tick.C:
		}
	}
}

// receiver makes a ready pod whose keyring follows at once.
func (s *shop) receiver() {
	s.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		ring, err := s.readRing(request.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		status := receiverstatus.Status{Keyring: receiverstatus.Keyring{Revision: ring.Revision}}
		for _, entry := range ring.Accepted(time.Now()) {
			status.Secrets = append(status.Secrets, receiverstatus.Secret{Fingerprint: entry.Fingerprint})
		}
		if err := json.NewEncoder(w).Encode(status); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	s.Cleanup(server.Close)
	host, portText, err := net.SplitHostPort(server.Listener.Addr().String())
	port, failed := strconv.ParseInt(portText, 10, 32)
	if err = errors.Join(err, failed); err != nil {
		s.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "payments-0", Labels: render.Labels("payments", render.NameReceiver)},
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
	if err := s.admin.Status().Update(s.Context(), pod); err != nil {
		s.Fatal(err)
	}
}

// operate runs the operator for the namespace until the test ends.
func (s *shop) operate() {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	manager, err := controllers.NewManager(ctx, restConfig, controllers.Options{
		Render:         render.Settings{Image: "hookonce:test", OperatorNamespace: "hookonce-system"},
		StatusInterval: 300 * time.Millisecond, SecretInterval: 500 * time.Millisecond, PropagationInterval: 200 * time.Millisecond,
		Namespaces: []string{s.namespace}, MetricsAddress: "0", ProbeAddress: "0",
	})
	if err != nil {
		s.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	s.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.Errorf("operator: %v", err)
		}
	})
}
