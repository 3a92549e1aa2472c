// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package deliveryreplay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/replayrequest"
)

func replayOf(name string, edit func(*v1alpha1.DeliveryReplaySpec)) *v1alpha1.DeliveryReplay {
	replay := &v1alpha1.DeliveryReplay{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.DeliveryReplaySpec{EndpointRef: v1alpha1.EndpointReference{Name: "payments"}},
	}
	if edit != nil {
		edit(&replay.Spec)
	}
	return replay
}

func TestAutomaticReplay(t *testing.T) {
	b := newBench(t)
	after := metav1.NewTime(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	replay := replayOf("crm-outage", func(spec *v1alpha1.DeliveryReplaySpec) {
		spec.Reason, spec.RequestedBy, spec.RatePerSecond, spec.StopAfterFailures = "mended", "ops@shop.example", 50, 3
		spec.Selector = v1alpha1.ReplaySelector{
			Destination: "crm", EventTypes: []v1alpha1.EventTypePattern{"invoice.*"}, ReceivedAfter: &after, FailureReason: "503",
		}
	})
	b.create(replay)
	got := b.pass("crm-outage")
	expect(t, got, v1alpha1.ConditionReady, metav1.ConditionFalse, "Counting", "")
	expect(t, got, v1alpha1.ConditionReconciling, metav1.ConditionTrue, "Counting", "")
	expect(t, got, v1alpha1.ConditionCounted, metav1.ConditionFalse, "Counting", "")
	job, request := b.job("crm-outage", true)
	if job == nil || !metav1.IsControlledBy(job, got) {
		t.Fatalf("no Job of the replay: %v", job)
	}
	want := &replayrequest.Request{
		Version: 1, ID: request.ID, Name: "crm-outage", RequestedBy: "ops@shop.example", Reason: "mended", Send: true, RatePerSecond: 50,
		StopAfterFailures: 3, Selector: replayrequest.Selector{
			State: replayrequest.Failed, Destination: "crm", EventTypes: []string{"invoice.*"}, ReceivedAfter: after.UTC(), Reason: "503",
		},
	}
	if diff := cmp.Diff(want, request); diff != "" || request.ID.String() != string(got.UID) {
		t.Errorf("request of %s (-want +got):\n%s", got.UID, diff)
	}

	b.knows(replay, receiverstatus.Replay{Matched: 12, Sent: 5, Succeeded: 3})
	got = b.pass("crm-outage")
	expect(t, got, v1alpha1.ConditionReady, metav1.ConditionFalse, "Sending", "12 deliveries")
	expect(t, got, v1alpha1.ConditionCounted, metav1.ConditionTrue, "Counted", "12")
	// Numbers alone are written now and then.
	b.knows(replay, receiverstatus.Replay{Matched: 12, Sent: 9, Succeeded: 7})
	before := got.ResourceVersion
	for range 2 {
		if got = b.pass("crm-outage"); got.ResourceVersion != before || *got.Status.Sent != 5 {
			t.Errorf("numbers were written 10 s after the last time: %d sent", *got.Status.Sent)
		}
	}
	if got = b.pass("crm-outage"); *got.Status.Sent != 9 || *got.Status.Succeeded != 7 {
		t.Errorf("%d sent and %d succeeded after 30 s, want 9 and 7", *got.Status.Sent, *got.Status.Succeeded)
	}
	b.knows(replay, receiverstatus.Replay{Matched: 12, Sent: 12, Succeeded: 7, Ended: true})
	got = b.pass("crm-outage")
	expect(t, got, v1alpha1.ConditionReady, metav1.ConditionTrue, "Delivering", "All 12")
	expect(t, got, v1alpha1.ConditionComplete, metav1.ConditionFalse, "Delivering", "")
	b.knows(replay, receiverstatus.Replay{Matched: 12, Sent: 12, Succeeded: 11, Failed: 1, Ended: true})
	got = b.pass("crm-outage")
	expect(t, got, v1alpha1.ConditionReady, metav1.ConditionTrue, "Completed", "11 deliveries were delivered, 1 failed again")
	expect(t, got, v1alpha1.ConditionComplete, metav1.ConditionTrue, "Completed", "")
	if *got.Status.Matched != 12 || *got.Status.Failed != 1 || got.Status.CompletionTime == nil {
		t.Errorf("status %+v", got.Status)
	}
	before = got.ResourceVersion
	b.knows(replay, receiverstatus.Replay{})
	if got = b.pass("crm-outage"); got.ResourceVersion != before {
		t.Error("a completed replay was written again")
	}
	if n := len(b.recorder.Events); n != 4 {
		t.Errorf("%d events, want one for each of 4 states", n)
	}
}

func TestManualReplayWaitsForApproval(t *testing.T) {
	b := newBench(t)
	replay := replayOf("by-hand", func(spec *v1alpha1.DeliveryReplaySpec) { spec.Approval = v1alpha1.ApprovalManual })
	b.create(replay)
	b.pass("by-hand")
	if _, request := b.job("by-hand", false); request == nil || request.Send || !strings.HasPrefix(request.RequestedBy, "field manager ") {
		t.Fatalf("counting is asked for by %+v", request)
	}
	b.knows(replay, receiverstatus.Replay{Matched: 612})
	got := b.pass("by-hand")
	expect(t, got, v1alpha1.ConditionReady, metav1.ConditionTrue, "AwaitingApproval", "612 deliveries match: set spec.approval to Automatic")
	if job, _ := b.job("by-hand", true); job != nil {
		t.Fatal("it is sent without approval")
	}
	got.Spec.Approval = v1alpha1.ApprovalAutomatic
	if err := b.admin.Update(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	expect(t, b.pass("by-hand"), v1alpha1.ConditionReady, metav1.ConditionFalse, "Sending", "")
	if _, request := b.job("by-hand", true); request == nil || !request.Send {
		t.Fatal("it is not sent after approval")
	}
	b.knows(replay, receiverstatus.Replay{Matched: 612, Sent: 20, Failed: 11, Ended: true, Stopped: true})
	got = b.pass("by-hand")
	expect(t, got, v1alpha1.ConditionStalled, metav1.ConditionTrue, "TooManyFailures", "Mend the destination")
	b.mu.Lock()
	b.away = true
	b.mu.Unlock()
	got = b.pass("by-hand")
	expect(t, got, v1alpha1.ConditionStalled, metav1.ConditionTrue, "TooManyFailures", "Mend the destination")
	if *got.Status.Sent != 20 {
		t.Errorf("%d sent while no receiver answers, want the 20 that were known", *got.Status.Sent)
	}
}

func TestReplayThatCannotRun(t *testing.T) {
	b := newBench(t)
	b.create(replayOf("nowhere", func(spec *v1alpha1.DeliveryReplaySpec) { spec.EndpointRef.Name = "missing" }))
	expect(t, b.pass("nowhere"), v1alpha1.ConditionReady, metav1.ConditionFalse, "EndpointNotFound", "no WebhookEndpoint missing")
	b.create(replayOf("broken", nil))
	b.pass("broken")
	job, _ := b.job("broken", true)
	now := metav1.Now()
	job.Status.StartTime = &now
	job.Status.Conditions = []batchv1.JobCondition{
		{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", LastTransitionTime: now},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", LastTransitionTime: now},
	}
	if err := b.admin.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	got := b.pass("broken")
	expect(t, got, v1alpha1.ConditionStalled, metav1.ConditionTrue, "JobFailed", "kubectl logs -n "+b.namespace+" job/broken-send")
	if err := b.admin.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	got = b.pass("broken")
	if meta.FindStatusCondition(got.Status.Conditions, v1alpha1.ConditionStalled) != nil {
		t.Error("still stalled after the Job was deleted")
	}
	if again, _ := b.job("broken", true); again == nil || again.UID == job.UID {
		t.Error("no new Job after the old one was deleted")
	}
}
