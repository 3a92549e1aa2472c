// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

func TestFailedCountGoesUpAndDownAtOnce(t *testing.T) {
	b, receivers := serving(t)
	report := func(received, failed int64) {
		receivers.each(func(status *receiverstatus.Status) {
			status.Deliveries = counts(b.clock.now(), received, 0, failed)
			if failed > 0 {
				status.Deliveries.LastFailure = &receiverstatus.Failure{
					Time: b.clock.now(), Destination: "sink", EventID: "evt_1", Reason: "HTTP status 500",
				}
			}
		})
	}
	shown := func(want int64) {
		t.Helper()
		b.pass("payments")
		deliveries := b.endpoint("payments").Status.Deliveries
		if deliveries == nil || deliveries.Failed != want {
			t.Fatalf("after one pass the status has %+v, want failed %d", deliveries, want)
		}
		b.settle("payments")
	}
	report(10, 0)
	shown(0)
	expect(t, b.endpoint("payments"), v1alpha1.ConditionDeliveriesHealthy, metav1.ConditionTrue, v1alpha1.ReasonWithinThreshold)
	report(11, 1)
	shown(1)
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionDeliveriesHealthy, metav1.ConditionFalse, v1alpha1.ReasonDeliveriesFailing)
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	if last := endpoint.Status.Deliveries.LastFailure; last == nil || last.EventID != "evt_1" {
		t.Errorf("last failure %+v", last)
	}
	report(12, 2)
	b.settle("payments")
	if got := b.warnings(v1alpha1.ReasonDeliveriesFailing); got != 1 {
		t.Errorf("%d warnings for two failures, want one for the change of health", got)
	}
	report(11, 0)
	shown(0)
	recovered := 0
	for range len(b.recorder.Events) {
		if event := <-b.recorder.Events; strings.HasPrefix(event, "Normal DeliveriesHealthy ") {
			recovered++
		}
	}
	if recovered != 1 {
		t.Errorf("%d events of the recovery, want one", recovered)
	}

	b.clock.forward(time.Minute)
	report(12, 0)
	b.pass("payments")
	if got := b.endpoint("payments").Status.Deliveries.Received; got != 11 {
		t.Errorf("one more delivery was written after a minute: received %d", got)
	}
	b.clock.forward(5 * time.Minute)
	report(13, 0)
	b.pass("payments")
	if got := b.endpoint("payments").Status.Deliveries.Received; got != 13 {
		t.Errorf("after five minutes received is %d, want 13", got)
	}
	owners := map[string]bool{}
	for _, entry := range b.endpoint("payments").ManagedFields {
		owners[entry.Manager] = true
	}
	if !owners[string(reconcile.StatsFieldOwner)] || !owners[string(reconcile.FieldOwner)] {
		t.Errorf("field managers %v, want one for the counts and one for the rest", owners)
	}
}

func TestCountsStayWhileNobodyKnows(t *testing.T) {
	b, receivers := serving(t)
	for _, condition := range b.endpoint("payments").Status.Conditions {
		if condition.Type == v1alpha1.ConditionDeliveriesHealthy && strings.Contains(condition.Message, "last known") {
			t.Errorf("an endpoint that has no numbers says %q", condition.Message)
		}
	}
	receivers.each(func(status *receiverstatus.Status) { status.Deliveries = counts(b.clock.now(), 10, 2, 3) })
	b.settle("payments")
	for name, lose := range map[string]func(*receiver){
		"DatabaseAway":  func(r *receiver) { r.set(func(status *receiverstatus.Status) { status.Database.Reachable = false }) },
		"ReceiversAway": func(r *receiver) { r.mutex.Lock(); r.away = true; r.mutex.Unlock() },
	} {
		t.Run(name, func(t *testing.T) {
			for _, one := range receivers {
				lose(one)
			}
			b.settle("payments")
			endpoint := b.endpoint("payments")
			if got := endpoint.Status.Deliveries; got == nil || got.Failed != 3 || got.Pending != 2 || got.Received != 10 {
				t.Errorf("the status has %+v, want the last numbers", got)
			}
			expect(t, endpoint, v1alpha1.ConditionDeliveriesHealthy, metav1.ConditionUnknown, v1alpha1.ReasonStatsUnavailable, "last known")
		})
	}
}

func TestDatabase(t *testing.T) {
	b, receivers := serving(t)
	receivers[1].set(func(status *receiverstatus.Status) {
		status.Database = receiverstatus.Database{Reason: "ConnectionRefused", Message: "no server at db:5432", Checked: b.clock.now()}
	})
	b.settle("payments")
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionDatabaseReachable, metav1.ConditionFalse, "ConnectionRefused", "db:5432")
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDatabaseUnreachable, "db:5432")

	receivers.each(func(status *receiverstatus.Status) {
		status.Database = receiverstatus.Database{
			Reachable: true, Reason: "Connected", Checked: b.clock.now(), Message: "the new connection URI is refused",
			Settings: map[string]string{"synchronous_commit": "off", "fsync": "on"},
		}
	})
	b.settle("payments")
	endpoint = b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionDatabaseReachable, metav1.ConditionTrue, v1alpha1.ReasonConnected, "the new connection URI is refused")
	expect(t, endpoint, v1alpha1.ConditionDurabilityVerified, metav1.ConditionFalse, v1alpha1.ReasonNotDurable, "fsync=on, synchronous_commit=off")
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
}

func TestFailingMigrationIsTheDatabase(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionDatabaseReachable, metav1.ConditionUnknown, v1alpha1.ReasonDatabaseUnknown)
	words, err := json.Marshal(receiverstatus.Database{Reason: "AuthFailed", Message: "password authentication failed"})
	if err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string][2]string{
		string(words):             {"AuthFailed", "password authentication failed"},
		"panic: something others": {v1alpha1.ReasonDatabaseUnreachable, "kubectl logs"},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "starting", Labels: render.Labels("payments", render.NameReceiver)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: render.ContainerReceiver, Image: "hookonce:test"}}},
		}
		b.create(pod)
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name:                 render.ContainerMigrate,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: message}},
		}}
		if err := b.admin.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		b.shown(pod)
		b.settle("payments")
		expect(t, b.endpoint("payments"), v1alpha1.ConditionDatabaseReachable, metav1.ConditionFalse, want[0], want[1])
		expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDatabaseUnreachable)
		b.remove(pod)
	}
}

// remove deletes a pod at once, and waits until the cache no longer shows it.
func (b *bench) remove(pod *corev1.Pod) {
	b.t.Helper()
	if err := b.admin.Delete(b.t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		b.t.Fatal(err)
	}
	b.eventually("the pod is gone", func() string {
		if err := b.cached.Get(b.t.Context(), b.key(pod.Name), &corev1.Pod{}); err == nil {
			return "the cache is behind"
		}
		return ""
	})
}

func TestReceivers(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionReceiversAvailable, metav1.ConditionFalse, v1alpha1.ReasonReceiversRollingOut)
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing)
	expect(t, endpoint, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonProgressing)

	receivers := b.run("payments", 2)
	receivers[1].set(func(status *receiverstatus.Status) { status.Keyring.Revision = 0 })
	b.settle("payments")
	endpoint = b.endpoint("payments")
	want := v1alpha1.ReceiversStatus{Desired: 2, Ready: 2, Updated: 1, Summary: "2/2"}
	if got := endpoint.Status.Receivers; got == nil || *got != want {
		t.Errorf("receivers %+v, want %+v", got, want)
	}
	expect(t, endpoint, v1alpha1.ConditionReceiversAvailable, metav1.ConditionTrue, v1alpha1.ReasonReceiversAvailable)

	b.update(endpoint, "payments", func() { endpoint.Spec.Verification.Tolerance = "2m" })
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing, "configuration")
	receivers[0].set(func(status *receiverstatus.Status) { status.Config.Error = "scheme: unknown member" })
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonConfigRefused, "unknown member")
	b.load("payments", receivers)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)

	for _, one := range receivers {
		one.mutex.Lock()
		one.away = true
		one.mutex.Unlock()
	}
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDatabaseUnknown, "NetworkPolic")
}

// TestWaitingMigrationIsSaid has one receiver serve while another waits in its init container.
func TestWaitingMigrationIsSaid(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	b.run("payments", 1)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "starting", Labels: render.Labels("payments", render.NameReceiver)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: render.ContainerReceiver, Image: "hookonce:test"}}},
	}
	b.create(pod)
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name:  render.ContainerMigrate,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	if err := b.admin.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	b.shown(pod)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing,
		"Fewer receivers are ready", "container migrate is running", "waits for Postgres", "kubectl logs -n "+b.namespace, "-c migrate")

	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Receiver.Replicas = new(int32(1)) })
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing,
		"being replaced", "container migrate is running")
}

func TestRetention(t *testing.T) {
	b, _ := serving(t)
	at := func(minutes int) *metav1.Time {
		moment := metav1.NewTime(time.Date(2026, 10, 1, 3, 17+minutes, 0, 0, time.UTC))
		return &moment
	}
	expect(t, b.endpoint("payments"), v1alpha1.ConditionRetentionHealthy, metav1.ConditionUnknown, v1alpha1.ReasonPruneNotRunYet)
	running := []corev1.ObjectReference{{Name: "payments-prune-1"}}
	for _, step := range []struct {
		name   string
		status batchv1.CronJobStatus
		want   metav1.ConditionStatus
		reason string
	}{
		{"Running", batchv1.CronJobStatus{LastScheduleTime: at(0), Active: running}, metav1.ConditionUnknown, v1alpha1.ReasonPruneNotRunYet},
		{"Succeeded", batchv1.CronJobStatus{LastScheduleTime: at(0), LastSuccessfulTime: at(1)}, metav1.ConditionTrue, v1alpha1.ReasonPruneSucceeded},
		{"NextRuns", batchv1.CronJobStatus{LastScheduleTime: at(10), LastSuccessfulTime: at(1), Active: running}, metav1.ConditionTrue, v1alpha1.ReasonPruneSucceeded},
		{"NextFailed", batchv1.CronJobStatus{LastScheduleTime: at(10), LastSuccessfulTime: at(1)}, metav1.ConditionFalse, v1alpha1.ReasonPruneFailed},
		{"Recovered", batchv1.CronJobStatus{LastScheduleTime: at(20), LastSuccessfulTime: at(20)}, metav1.ConditionTrue, v1alpha1.ReasonPruneSucceeded},
	} {
		cronJob := &batchv1.CronJob{}
		b.get(cronJob, render.NamesOf("payments").Prune)
		cronJob.Status = step.status
		if err := b.admin.Status().Update(t.Context(), cronJob); err != nil {
			t.Fatal(err)
		}
		b.shown(cronJob)
		b.settle("payments")
		t.Run(step.name, func(t *testing.T) {
			expect(t, b.endpoint("payments"), v1alpha1.ConditionRetentionHealthy, step.want, step.reason)
			expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
		})
	}
}
