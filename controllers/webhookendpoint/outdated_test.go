// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
)

const newerLedger = "the schema hookonce is at version 3 and this build knows 2: run a newer build, or use another schema"

// TestNewerLedgerStalls has every receiver find a schema that a later release has migrated.
func TestNewerLedgerStalls(t *testing.T) {
	b, receivers := serving(t)
	receivers.each(func(status *receiverstatus.Status) {
		status.Database = receiverstatus.Database{Reason: "SchemaTooNew", Message: newerLedger, Checked: b.clock.now()}
	})
	b.settle("payments")
	endpoint := b.endpoint("payments")
	for _, kind := range []string{v1alpha1.ConditionDatabaseReachable, v1alpha1.ConditionReady} {
		expect(t, endpoint, kind, metav1.ConditionFalse, v1alpha1.ReasonSchemaTooNew, "run the release of Hookonce that migrated it", "version 3")
	}
	expect(t, endpoint, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSchemaTooNew)
	absent(t, endpoint, v1alpha1.ConditionReconciling)

	// The later release comes: its receivers replace the others, of which one still reports.
	deployment := &appsv1.Deployment{}
	b.get(deployment, render.NamesOf("payments").Receiver)
	deployment.Status.UpdatedReplicas = 1
	if err := b.admin.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	b.shown(deployment)
	receivers[0].set(func(status *receiverstatus.Status) {
		status.Database = receiverstatus.Database{Reachable: true, Reason: "Connected", Checked: b.clock.now(), Durable: true}
	})
	b.settle("payments")
	endpoint = b.endpoint("payments")
	absent(t, endpoint, v1alpha1.ConditionStalled)
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSchemaTooNew)
	expect(t, endpoint, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonSchemaTooNew)

	receivers.each(func(status *receiverstatus.Status) {
		status.Database = receiverstatus.Database{Reachable: true, Reason: "Connected", Checked: b.clock.now(), Durable: true}
	})
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionDatabaseReachable, metav1.ConditionTrue, v1alpha1.ReasonConnected)
}

// TestNewerLedgerKeepsReceiversFromStarting has the migration find it, before any receiver serves.
func TestNewerLedgerKeepsReceiversFromStarting(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	deployment := &appsv1.Deployment{}
	b.get(deployment, render.NamesOf("payments").Receiver)
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: 2, UpdatedReplicas: 2}
	if err := b.admin.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	b.shown(deployment)
	words, err := json.Marshal(receiverstatus.Database{Reason: "SchemaTooNew", Message: newerLedger})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "starting", Labels: render.Labels("payments", render.NameReceiver)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: render.ContainerReceiver, Image: "hookonce:test"}}},
	}
	b.create(pod)
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name:  render.ContainerMigrate,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: string(words)}},
	}}
	if err := b.admin.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	b.shown(pod)
	b.settle("payments")
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionDatabaseReachable, metav1.ConditionFalse, v1alpha1.ReasonSchemaTooNew, "version 3")
	expect(t, endpoint, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSchemaTooNew, "run the release of Hookonce")
}
