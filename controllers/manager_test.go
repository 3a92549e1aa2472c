// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/controllers"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/rotation"
)

var restConfig *rest.Config

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplane.Main(m, func(config *rest.Config) { restConfig = config }))
}

const (
	before = "whsec_0123456789abcdef0123456789abcdef"
	after  = "whsec_ffffffffffffffffffffffffffffffff"
)

// traffic is what the operator sends to the API server.
type traffic struct {
	next http.RoundTripper
	// writes counts changes, without the renewals of the leader's lease. denied counts what the role does not allow.
	writes, denied atomic.Int64
	// last is the latest request that was denied.
	last atomic.Value
}

func (c *traffic) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/leases") {
		c.writes.Add(1)
	}
	response, err := c.next.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusForbidden {
		c.denied.Add(1)
		c.last.Store(request.Method + " " + request.URL.Path)
	}
	return response, err
}

// start runs the operator as the service account of config/rbac, with its rights and no others.
func start(t *testing.T, namespace string) *traffic {
	t.Helper()
	seen := &traffic{}
	config := rest.CopyConfig(restConfig)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + operatorNamespace + ":hookonce-operator",
		Groups:   []string{"system:serviceaccounts", "system:authenticated"},
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		seen.next = next
		return seen
	})
	ctx, cancel := context.WithCancel(t.Context())
	manager, err := controllers.NewManager(ctx, config, controllers.Options{
		Render:              render.Settings{Image: "hookonce:test", OperatorNamespace: operatorNamespace},
		StatusInterval:      300 * time.Millisecond,
		SecretInterval:      500 * time.Millisecond,
		PropagationInterval: 200 * time.Millisecond,
		Namespaces:          []string{namespace},
		MetricsAddress:      "0",
		ProbeAddress:        "0",
		LeaderElection:      true,
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("operator: %v", err)
		}
	})
	return seen
}

// TestOperator runs both controllers together, with the rights of config/rbac: from the manifest to a healthy overlap
// after the bytes of the Secret have changed.
func TestOperator(t *testing.T) {
	admin := controlplane.Client(t, restConfig)
	installRBAC(t, admin)
	namespace := controlplane.Namespace(t, admin, nil)
	shop := &shop{t: t, admin: admin, namespace: namespace}
	seen := start(t, namespace)
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(30 * time.Second)

	shop.create(secret("database", "uri", "postgres://shop@db/shop"), secret("signing", "secret", before), endpoint())
	g.Eventually(shop.deployed).Should(gomega.Succeed())
	shop.run(2)
	g.Eventually(shop.is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)).Should(gomega.Succeed())

	settled(g, shop, seen)
	rotated(g, shop)
	settled(g, shop, seen)
	if n := seen.denied.Load(); n > 0 {
		t.Errorf("%d requests were denied, the last was %v", n, seen.last.Load())
	}
}

// settled checks that several rounds of passes send no write once the last one is through.
func settled(g *gomega.WithT, shop *shop, seen *traffic) {
	g.Eventually(func() error {
		asked, writes := shop.asked.Load(), seen.writes.Load()
		for shop.asked.Load() < asked+20 {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-shop.t.Context().Done():
				return shop.t.Context().Err()
			}
		}
		if n := seen.writes.Load() - writes; n > 0 {
			return fmt.Errorf("%d writes in ten passes", n)
		}
		return nil
	}).Should(gomega.Succeed())
}

// rotated changes the bytes of the Secret, and checks that this becomes one rotation with a healthy overlap.
func rotated(g *gomega.WithT, shop *shop) {
	source := &corev1.Secret{}
	shop.get(source, "signing")
	source.Data["secret"] = []byte(after)
	g.Expect(shop.admin.Update(shop.t.Context(), source)).To(gomega.Succeed())

	g.Eventually(shop.is(v1alpha1.ConditionOverlapActive, metav1.ConditionTrue, v1alpha1.ReasonDualSecrets)).Should(gomega.Succeed())
	g.Eventually(func() error {
		var list v1alpha1.SecretRotationList
		if err := shop.admin.List(shop.t.Context(), &list, client.InNamespace(shop.namespace)); err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("%d rotations, want one", len(list.Items))
		}
		ready := meta.FindStatusCondition(list.Items[0].Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.Reason != string(rotation.OverlapActive) {
			return fmt.Errorf("the rotation is %+v", ready)
		}
		return nil
	}).Should(gomega.Succeed())
	g.Eventually(shop.is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)).Should(gomega.Succeed())

	ring := shop.ring()
	g.Expect(string(ring.Current.Secret)).To(gomega.Equal(after))
	g.Expect(ring.Previous).To(gomega.HaveLen(1))
	g.Expect(string(ring.Previous[0].Secret)).To(gomega.Equal(before))
	// The endpoint's status follows the keyring with its next pass.
	g.Eventually(func(g gomega.Gomega) {
		status := shop.endpoint().Status
		g.Expect(status.CurrentSecret.Fingerprint).To(gomega.Equal(keyring.Short(ring.Current.Fingerprint)))
		g.Expect(status.OverlapEndTime).To(gomega.Equal(ring.Previous[0].NotAfter.UTC().Format(time.RFC3339)))
		g.Expect(status.Receivers.Updated).To(gomega.Equal(int32(2)))
	}).Should(gomega.Succeed())
}
