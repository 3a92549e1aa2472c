// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
)

// TestChangedSpecIsNotReadyBeforeItIsRolledOut makes one pass over a spec that restarts receivers: the Deployment that it
// found had rolled out, the one that it leaves has not.
func TestChangedSpecIsNotReadyBeforeItIsRolledOut(t *testing.T) {
	b, _ := serving(t)
	b.create(secret("database-q4", "uri", "postgres://shop:hunter2@db-q4/shop"))
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Database.SecretRef.Name = "database-q4" })

	b.pass("payments")
	endpoint = b.endpoint("payments")
	if endpoint.Status.ObservedGeneration != endpoint.Generation {
		t.Fatalf("the pass was about generation %d, want %d", endpoint.Status.ObservedGeneration, endpoint.Generation)
	}
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing, "being replaced")
	expect(t, endpoint, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonProgressing)

	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing, "being replaced")
	b.rollOut("payments")
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
}

// rollOut says in the Deployment's status that it has rolled out, as its controller does.
func (b *bench) rollOut(endpoint string) {
	b.t.Helper()
	deployment := &appsv1.Deployment{}
	b.get(deployment, render.NamesOf(endpoint).Receiver)
	deployment.Status.ObservedGeneration = deployment.Generation
	if err := b.admin.Status().Update(b.t.Context(), deployment); err != nil {
		b.t.Fatal(err)
	}
	b.shown(deployment)
}

func TestReplacementThatDoesNotComeSaysWhy(t *testing.T) {
	b, _ := serving(t)
	b.create(secret("database-q4", "uri", "postgres://shop:hunter2@db-q4/shop"))
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Database.SecretRef.Name = "database-q4" })
	words, err := json.Marshal(receiverstatus.Database{Reason: "AuthFailed", Message: "password authentication failed"})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "replacement", Labels: render.Labels("payments", render.NameReceiver)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: render.ContainerReceiver, Image: "hookonce:test"}}},
	}
	b.create(pod)
	for text, state := range map[string]corev1.ContainerStatus{
		"password authentication failed": {
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: string(words)}},
		},
		"its image cannot be pulled": {
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
		},
	} {
		state.Name = render.ContainerMigrate
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{state}
		if err := b.admin.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		b.shown(pod)
		b.settle("payments")
		endpoint = b.endpoint("payments")
		expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing, "being replaced", text)
		expect(t, endpoint, v1alpha1.ConditionDatabaseReachable, metav1.ConditionTrue, v1alpha1.ReasonConnected)
	}
}

func TestChildrenAreJudgedInThePassThatMakesThem(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.pass("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionRetentionHealthy, metav1.ConditionUnknown, v1alpha1.ReasonPruneNotRunYet)
}

// TestSilentReceiver has a receiver that gets deliveries and does not tell the operator what it runs.
func TestSilentReceiver(t *testing.T) {
	b, receivers := serving(t)
	silence := func(away bool) {
		receivers[1].mutex.Lock()
		defer receivers[1].mutex.Unlock()
		receivers[1].away = away
	}
	silence(true)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)

	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Verification.Tolerance = "2m" })
	b.pass("payments")
	b.load("payments", receivers)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing, "which configuration")
	silence(false)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
}

// refuse answers writes of the Deployment in place of the API server.
func (b *bench) refuse(status int, reason metav1.StatusReason) {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(status), Reason: reason, Message: "not now",
	})
	if err != nil {
		b.t.Fatal(err)
	}
	answer := intercept(func(request *http.Request) *http.Response {
		if request.Method != http.MethodPatch || !strings.Contains(request.URL.Path, "/deployments/") {
			return nil
		}
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(string(body))), Request: request,
		}
	})
	b.intercept.Store(&answer)
}

// TestFailedWriteIsNotReady fails to write what a changed spec asks; what receivers say is shown all the same.
func TestFailedWriteIsNotReady(t *testing.T) {
	b, receivers := serving(t)
	receivers.each(func(status *receiverstatus.Status) { status.Deliveries = counts(b.clock.now(), 10, 2, 3) })
	b.refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Receiver.Replicas = new(int32(1)) })
	if _, err := b.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: b.key("payments")}); err == nil {
		t.Error("the failure is not tried again")
	}
	endpoint = b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRetrying, "not now")
	expect(t, endpoint, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonRetrying)
	if got := endpoint.Status.Deliveries; got == nil || got.Failed != 3 {
		t.Errorf("the counts are %+v, want 3 failed", got)
	}

	b.intercept.Store(nil)
	b.settle("payments")
	b.rollOut("payments")
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
}

// TestInvalidChildIsNotTriedForEver has the API server find a child invalid, as it does what a spec's schema lets pass.
func TestInvalidChildIsNotTriedForEver(t *testing.T) {
	b, receivers := serving(t)
	receivers.each(func(status *receiverstatus.Status) { status.Deliveries = counts(b.clock.now(), 10, 2, 3) })
	b.refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Receiver.Replicas = new(int32(1)) })
	if result := b.pass("payments"); result.RequeueAfter == 0 {
		t.Error("nobody looks again")
	}
	endpoint = b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec, "Deployment payments-receiver", "not now")
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec)
	absent(t, endpoint, v1alpha1.ConditionReconciling)
	if got := endpoint.Status; got.Deliveries == nil || got.Deliveries.Failed != 3 || got.Receivers.Desired != 1 {
		t.Errorf("the rest of the status is %+v", got)
	}
	b.intercept.Store(nil)
	b.settle("payments")
	absent(t, b.endpoint("payments"), v1alpha1.ConditionStalled)
}

// TestConflictSaysNothing has somebody else be faster: nothing is said of a spec that is not rolled out.
func TestConflictSaysNothing(t *testing.T) {
	b, _ := serving(t)
	b.refuse(http.StatusConflict, metav1.StatusReasonConflict)
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Receiver.Replicas = new(int32(1)) })
	before := endpoint.ResourceVersion
	if result := b.pass("payments"); result.RequeueAfter == 0 {
		t.Error("the pass is not made again")
	}
	if endpoint = b.endpoint("payments"); endpoint.ResourceVersion != before {
		t.Errorf("the status was written: generation %d of %d", endpoint.Status.ObservedGeneration, endpoint.Generation)
	}
}

// TestStatusOfOneEndpointStaysOffAnother replaces an endpoint by another of the same name while a pass is under way.
func TestStatusOfOneEndpointStaysOffAnother(t *testing.T) {
	b := newBench(t)
	endpoint := paymos("payments")
	b.create(endpoint)
	replaced := false
	replace := intercept(func(request *http.Request) *http.Response {
		if !replaced && strings.HasSuffix(request.URL.Path, "/status") {
			replaced = true
			if err := b.admin.Delete(t.Context(), endpoint); err != nil {
				t.Error(err)
			}
			b.create(paymos("payments"))
		}
		return nil
	})
	b.intercept.Store(&replace)
	b.pass("payments")
	if !replaced {
		t.Fatal("the pass wrote no status")
	}
	if got := b.endpoint("payments").Status; got.ObservedGeneration != -1 || len(got.Conditions) > 0 {
		t.Errorf("the new endpoint has the status of the former one: %+v", got)
	}
}
