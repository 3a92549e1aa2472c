// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/plugin"
	"github.com/hookonce/hookonce/internal/render"
)

func TestReplayIsApplied(t *testing.T) {
	s := newShop(t)
	got := s.run("replay", "payments", "--destination", "gone", "--approval", "Manual", "--reason", "INC-4711", "--apply")
	if got.code != plugin.ExitOK || !strings.Contains(got.out, "deliveryreplay.webhooks.hookonce.dev/payments-20261001-120000 serverside-applied") {
		t.Fatalf("exit code %d: %s%s", got.code, got.out, got.err)
	}
	for _, text := range []string{"no destination gone now", "--for=condition=Counted", "kubectl patch dreplay/payments-20261001-120000 -n " + s.namespace} {
		if !strings.Contains(got.err, text) {
			t.Errorf("%q is not in\n%s", text, got.err)
		}
	}
	object := &v1alpha1.DeliveryReplay{}
	if err := s.admin.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "payments-20261001-120000"}, object); err != nil {
		t.Fatal(err)
	}
	if spec := object.Spec; spec.EndpointRef.Name != "payments" || spec.Approval != v1alpha1.ApprovalManual || spec.Selector.Destination != "gone" ||
		spec.Reason != "INC-4711" || spec.RatePerSecond != 10 {
		t.Errorf("spec %+v", spec)
	}
	if got := s.run("replay", "nobody"); got.code != plugin.ExitFailed || !strings.Contains(got.err, "correct ENDPOINT or --namespace") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}

// Who looks into the ledger needs a receiver that is ready, and two rights, each of which is named when it is missing.
func TestWhatLookingNeeds(t *testing.T) {
	s := newShop(t)
	if got := s.run("audit", "payments"); got.code != plugin.ExitFailed || !strings.Contains(got.err, "no ready receiver") {
		t.Errorf("without receivers: exit code %d: %s", got.code, got.err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "payments-receiver-0", Labels: render.Labels("payments", render.NameReceiver)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: render.ContainerReceiver, Image: "hookonce:test"}}},
	}
	s.create(pod)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if err := s.admin.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	read := rbacv1.PolicyRule{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"webhookendpoints"}, Verbs: []string{"get"}}
	list := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}}
	s.allow("reader", read)
	s.allow("lister", read, list)
	if got := s.run("deliveries", "payments", "--as", "reader"); got.code != plugin.ExitFailed || !strings.Contains(got.err, "get and list of pods") {
		t.Errorf("without a right to pods: exit code %d: %s", got.code, got.err)
	}
	if got := s.run("deliveries", "payments", "--as", "lister"); got.code != plugin.ExitFailed || !strings.Contains(got.err, "create of pods/exec") {
		t.Errorf("without a right to run commands: exit code %d: %s", got.code, got.err)
	}
}
