// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// events are the reasons of the events of an object, each once.
func (s *shop) events(name string) map[string]string {
	s.Helper()
	list := &eventsv1.EventList{}
	if err := s.client.List(s.Context(), list, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	reasons := map[string]string{}
	for i := range list.Items {
		if event := &list.Items[i]; event.Regarding.Name == name {
			reasons[event.Reason] = event.Type
		}
	}
	return reasons
}

func TestARotationFromStartToEnd(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.rotate("q4", "next")

	got := s.reach("q4", rotation.Propagating)
	if !is(got, v1alpha1.ConditionReady, metav1.ConditionFalse) || !is(got, v1alpha1.ConditionReconciling, metav1.ConditionTrue) ||
		!is(got, v1alpha1.ConditionPropagated, metav1.ConditionFalse) || !is(got, v1alpha1.ConditionOverlapActive, metav1.ConditionTrue) {
		t.Errorf("propagating: conditions %+v", got.Status.Conditions)
	}
	ring := s.ring()
	if string(ring.Current.Secret) != beta || string(ring.Previous[0].Secret) != alpha || ring.Previous[0].Final {
		t.Fatalf("keyring: %v", ring)
	}

	s.load(s.receivers[0])
	s.Eventually(func() string { return s.rotation("q4").Status.Receivers.Summary }).Should(Equal("1/2"))
	if state := s.state("q4"); state != rotation.Propagating {
		t.Errorf("state %s though one receiver has the former secret only", state)
	}

	s.clock.pass(10 * time.Minute)
	s.Eventually(func() string { return s.reason("q4", v1alpha1.ConditionReconciling) }).Should(Equal("PropagationOverdue"))
	s.load(s.receivers...)
	before := s.clock.now()
	got = s.reach("q4", rotation.OverlapActive)
	if !is(got, v1alpha1.ConditionReady, metav1.ConditionTrue) || is(got, v1alpha1.ConditionReconciling, metav1.ConditionTrue) ||
		!is(got, v1alpha1.ConditionPropagated, metav1.ConditionTrue) || !is(got, v1alpha1.ConditionPreviousRetired, metav1.ConditionFalse) {
		t.Errorf("overlap: conditions %+v", got.Status.Conditions)
	}
	end, err := time.Parse(time.RFC3339, got.Status.OverlapEndTime)
	if err != nil || end.Before(before.Add(24*time.Hour).Truncate(time.Second)) || end.After(s.clock.now().Add(24*time.Hour+time.Second)) {
		t.Errorf("overlap until %s, want 24h after the last receiver, %v (%v)", got.Status.OverlapEndTime, before, err)
	}
	ring = s.ring()
	if former := ring.Previous[0]; !former.NotAfter.Equal(end) || !former.Final {
		t.Errorf("enforced until %v, shown %v", former.NotAfter, end)
	}
	if st := got.Status; st.Trigger != "SecretRotation" || st.Receivers.Summary != "2/2" || st.ObservedGeneration != got.Generation ||
		st.CurrentFingerprint != keyring.Short(ring.Current.Fingerprint) || st.PreviousFingerprint != keyring.Short(ring.Previous[0].Fingerprint) {
		t.Errorf("columns: %+v", st)
	}

	used := s.clock.now()
	s.receivers[1].use(ring.Previous[0].Fingerprint, used)
	s.Eventually(func() *metav1.Time { return s.rotation("q4").Status.LastOldUseTime }).ShouldNot(BeNil())
	if last := s.rotation("q4").Status.LastOldUseTime; !last.Time.Equal(used.Truncate(time.Second)) {
		t.Errorf("last use %v, want %v to the second", last, used)
	}

	s.clock.pass(24*time.Hour + time.Second)
	got = s.reach("q4", rotation.Retiring)
	if !is(got, v1alpha1.ConditionReady, metav1.ConditionTrue) || !is(got, v1alpha1.ConditionOverlapActive, metav1.ConditionFalse) ||
		!is(got, v1alpha1.ConditionPreviousRetired, metav1.ConditionFalse) {
		t.Errorf("retiring: conditions %+v", got.Status.Conditions)
	}
	ring = s.ring()
	if len(ring.Previous) != 0 || len(ring.Tombstones) != 1 || ring.Tombstones[0].Reason != keyring.Expired {
		t.Errorf("keyring: %+v", ring)
	}
	s.load(s.receivers...)
	got = s.reach("q4", rotation.Completed)
	if !is(got, v1alpha1.ConditionPreviousRetired, metav1.ConditionTrue) || got.Status.CompletionTime == nil ||
		got.Status.OverlapEndTime != end.Format(time.RFC3339) {
		t.Errorf("completed: %+v", got.Status)
	}
	s.Eventually(func() map[string]string { return s.events("q4") }).Should(Equal(map[string]string{
		"Propagating": "Normal", "PropagationOverdue": "Warning", "OverlapActive": "Normal", "Retiring": "Normal", "Completed": "Normal",
	}))
}

func TestRevocation(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.rotate("leak", "next", func(r *v1alpha1.SecretRotation) { r.Spec.Revocation = v1alpha1.RevocationImmediate })
	s.reach("leak", rotation.Propagating)
	if n := len(s.ring().Previous); n != 1 {
		t.Fatal("the leaked secret is refused before the new one is accepted everywhere")
	}
	s.load(s.receivers...)
	s.reach("leak", rotation.Retiring)
	s.load(s.receivers...)
	s.reach("leak", rotation.Revoked)

	s.rotate("revert", "first")
	got := s.reach("revert", rotation.Rejected)
	if !is(got, v1alpha1.ConditionStalled, metav1.ConditionTrue) || string(s.ring().Current.Secret) != beta {
		t.Errorf("a revoked secret put back: %+v", got.Status)
	}
}

func TestTwoRotationsAtOnceHaveOneOrder(t *testing.T) {
	s := newShop(t)
	s.secret("next", beta)
	s.secret("last", gamma)
	s.rotate("b-second", "last")
	s.rotate("a-first", "next")
	// Created within one second or not: the order is by time, then by name.
	first, second := "a-first", "b-second"
	firstSecret, secondSecret := beta, gamma
	if s.rotation(second).CreationTimestamp.Time.Before(s.rotation(first).CreationTimestamp.Time) {
		first, second = second, first
		firstSecret, secondSecret = secondSecret, firstSecret
	}
	operator(t, s.namespace, s.clock)

	s.reach(first, rotation.Propagating)
	s.reach(second, rotation.Pending)
	if got := string(s.ring().Current.Secret); got != firstSecret {
		t.Fatal("the second rotation went first")
	}
	s.load(s.receivers...)
	s.reach(second, rotation.Propagating)
	s.load(s.receivers...)
	s.reach(second, rotation.OverlapActive)
	got := s.reach(first, rotation.Superseded)
	ring := s.ring()
	if string(ring.Current.Secret) != secondSecret || len(ring.Previous) != 2 {
		t.Errorf("%d former secrets", len(ring.Previous))
	}
	if got.Status.OverlapEndTime == "" || !is(got, v1alpha1.ConditionOverlapActive, metav1.ConditionTrue) {
		t.Errorf("the first rotation: %+v", got.Status)
	}
	s.clock.pass(25 * time.Hour)
	s.Eventually(func() int { return len(s.ring().Previous) }).Should(BeZero())
	s.load(s.receivers...)
	s.reach(second, rotation.Completed)
	s.Eventually(func() *metav1.Time { return s.rotation(first).Status.CompletionTime }).ShouldNot(BeNil())
}

func TestADeletedRotationEndsOnTime(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	object := s.rotate("q4", "next")
	s.reach("q4", rotation.Propagating)
	s.load(s.receivers...)
	s.reach("q4", rotation.OverlapActive)
	end := s.ring().Previous[0].NotAfter
	// What is left of the overlap is waited for in real time, so let it be little.
	s.clock.pass(end.Sub(s.clock.now()) - 2*time.Second)
	if err := s.client.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if ring := s.ring(); len(ring.Previous) != 1 || !ring.Previous[0].NotAfter.Equal(end) {
		t.Error("deleting the rotation ended or moved the overlap")
	}
	s.Eventually(func() int { return len(s.ring().Previous) }).Should(BeZero())
	if ring := s.ring(); string(ring.Current.Secret) != beta || s.clock.now().Before(end) {
		t.Errorf("after the deadline: %v", ring)
	}
}
