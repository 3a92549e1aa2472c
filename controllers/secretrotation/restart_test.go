// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	v1alpha1ac "github.com/hookonce/hookonce/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// versions are those of everything that the operator writes: the rotation q4 and the keyring.
func (s *shop) versions() [2]string {
	s.Helper()
	return [2]string{s.rotation("q4").ResourceVersion, s.ringSecret().ResourceVersion}
}

// An operator that restarts, with or without the status of the one before, writes no keyring and moves no deadline.
func TestRestartsMoveNoDeadline(t *testing.T) {
	s := newShop(t)
	s.secret("next", beta)
	s.rotate("q4", "next")
	stop := operator(t, s.namespace, s.clock)
	steps := []struct {
		state rotation.State
		leave func()
	}{
		{rotation.Propagating, func() { s.load(s.receivers...) }},
		{rotation.OverlapActive, func() { s.clock.pass(25 * time.Hour) }},
		{rotation.Retiring, func() { s.load(s.receivers...) }},
		{rotation.Completed, func() {}},
	}
	for _, step := range steps {
		before := s.reach("q4", step.state)
		stop()
		ring := s.ringSecret().ResourceVersion
		s.clock.pass(time.Minute)
		if step.state == rotation.OverlapActive {
			s.forget("q4") // a status may be lost, the keyring is the record
		}
		stop = operator(t, s.namespace, s.clock)
		if step.state != rotation.Completed {
			s.looks()
		}
		after := s.reach("q4", step.state)
		if s.ringSecret().ResourceVersion != ring {
			t.Errorf("%s: the keyring was written", step.state)
		}
		times := func(st v1alpha1.SecretRotationStatus) []any {
			return []any{st.StartTime, st.PropagatedTime, st.OverlapEndTime, st.CompletionTime, st.CurrentFingerprint, st.PreviousFingerprint}
		}
		if diff := cmp.Diff(times(before.Status), times(after.Status)); diff != "" {
			t.Errorf("%s: times (-before +after):\n%s", step.state, diff)
		}
		step.leave()
	}
}

// forget removes the status of a rotation.
func (s *shop) forget(name string) {
	s.Helper()
	object := s.rotation(name)
	object.Status = v1alpha1.SecretRotationStatus{ObservedGeneration: -1}
	if err := s.client.Status().Update(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

func TestASettledSystemGetsNoWrite(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	apply := func() {
		t.Helper()
		// Made anew each time: Apply writes the answer into what it is given.
		manifest := v1alpha1ac.SecretRotation("q4", s.namespace).WithSpec(v1alpha1ac.SecretRotationSpec().
			WithEndpointRef(v1alpha1ac.EndpointReference().WithName("payments")).
			WithSecretRef(v1alpha1ac.SecretKeyReference().WithName("next").WithKey("secret")))
		if err := s.client.Apply(t.Context(), manifest, client.FieldOwner("kubectl")); err != nil {
			t.Fatal(err)
		}
	}
	apply()
	for _, state := range []rotation.State{rotation.Propagating, rotation.OverlapActive} {
		s.reach("q4", state)
		s.looks()
		before := s.versions()
		apply()
		s.looks()
		if after := s.versions(); after != before {
			t.Errorf("%s: written again, %v after %v", state, after, before)
		}
		s.load(s.receivers...)
	}
	s.clock.pass(25 * time.Hour)
	s.reach("q4", rotation.Retiring)
	s.load(s.receivers...)
	s.reach("q4", rotation.Completed)
	before := s.versions()
	polls := s.receivers[0].polls.Load()
	apply()
	if after := s.versions(); after != before {
		t.Errorf("completed: written again, %v after %v", after, before)
	}
	s.touch("q4")
	if after := s.versions(); after[1] != before[1] {
		t.Error("a finished rotation had the keyring written")
	}
	s.Consistently(func() int64 { return s.receivers[0].polls.Load() - polls }, time.Second).Should(BeZero(),
		"receivers are asked for a finished rotation")
}

// touch changes a rotation's spec to another that means nothing any more, and waits until the operator has seen it.
func (s *shop) touch(name string) {
	s.Helper()
	s.patch(name, map[string]any{"overlap": "168h"})
	generation := s.rotation(name).Generation
	s.Eventually(func() int64 { return s.rotation(name).Status.ObservedGeneration }).Should(Equal(generation))
}

// The keyring is only written as it was read: two operators for a moment do not undo each other's writes.
func TestTheKeyringIsWrittenWithAPrecondition(t *testing.T) {
	s := newShop(t)
	stale := s.ringSecret()
	s.overwriteRing(string(stale.Data[keyring.FileName]) + "\n")
	if err := s.client.Update(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("a stale write: %v", err)
	}
}

func TestEditsDuringTheOverlap(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.rotate("q4", "next")
	s.reach("q4", rotation.Propagating)
	s.load(s.receivers...)
	start := s.reach("q4", rotation.OverlapActive).Status.PropagatedTime.Time
	s.patch("q4", map[string]any{"overlap": "2h"})
	s.Eventually(func() string { return s.rotation("q4").Status.OverlapEndTime }).
		Should(Equal(start.Add(2 * time.Hour).UTC().Format(time.RFC3339)))
	s.patch("q4", map[string]any{"previousNotAfter": start.Add(time.Hour).UTC().Format(time.RFC3339)})
	s.Eventually(func() string { return s.rotation("q4").Status.OverlapEndTime }).
		Should(Equal(start.Add(time.Hour).UTC().Format(time.RFC3339)))
	s.patch("q4", map[string]any{"revocation": "Immediate"})
	s.reach("q4", rotation.Retiring)
	if ring := s.ring(); len(ring.Previous) != 0 || ring.Tombstones[0].Reason != keyring.Revoked {
		t.Errorf("keyring %+v", ring)
	}
}

// An emergency that comes when a rotation is over, while the endpoint is suspended, is not forgotten.
func TestAnEmergencyAfterTheEndWaitsForTheEndpoint(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.rotate("q4", "next", func(r *v1alpha1.SecretRotation) { r.Spec.Overlap = "0s" })
	s.reach("q4", rotation.Propagating)
	s.load(s.receivers...)
	s.reach("q4", rotation.Retiring)
	s.load(s.receivers...)
	s.reach("q4", rotation.Completed)
	suspend := func(suspend bool) {
		endpoint := &v1alpha1.WebhookEndpoint{}
		s.get("payments", endpoint)
		endpoint.Spec.Suspend = suspend
		if err := s.client.Update(t.Context(), endpoint); err != nil {
			t.Fatal(err)
		}
	}
	suspend(true)
	s.patch("q4", map[string]any{"revocation": "Immediate"})
	s.Eventually(func() bool {
		got := s.rotation("q4")
		return got.Status.ObservedGeneration == got.Generation
	}).Should(BeTrue())
	suspend(false)
	s.reach("q4", rotation.Revoked)
	if ring := s.ring(); ring.Tombstones[0].Reason != keyring.Revoked {
		t.Errorf("keyring %+v", ring)
	}
}

// patch changes fields of a rotation's spec.
func (s *shop) patch(name string, spec map[string]any) {
	s.Helper()
	if err := s.tryPatch(s.Context(), name, spec); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) tryPatch(ctx context.Context, name string, spec map[string]any) error {
	patch, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("SecretRotation"))
	object.SetNamespace(s.namespace)
	object.SetName(name)
	return s.client.Patch(ctx, object, client.RawPatch("application/merge-patch+json", patch))
}

// What admission refuses, with the remedy in the message.
func TestAdmission(t *testing.T) {
	s := newShop(t)
	s.rotate("q4", "next", func(r *v1alpha1.SecretRotation) { r.Spec.Revocation = v1alpha1.RevocationImmediate })
	for name, c := range map[string]struct {
		spec map[string]any
		want string
	}{
		"endpointRef":     {map[string]any{"endpointRef": map[string]any{"name": "refunds"}}, "create another SecretRotation"},
		"secretRef":       {map[string]any{"secretRef": map[string]any{"name": "other"}}, "create another SecretRotation"},
		"back to overlap": {map[string]any{"revocation": "AfterOverlap"}, "a revoked secret stays revoked"},
		"overlap":         {map[string]any{"overlap": "169h"}, "from 0s to 168h"},
		"negative":        {map[string]any{"overlap": "-1h"}, "overlap"},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.tryPatch(t.Context(), "q4", c.spec)
			if !apierrors.IsInvalid(err) {
				t.Fatalf("error %v, want a refusal", err)
			}
			if s.Expect(err.Error()).To(ContainSubstring(c.want)); t.Failed() {
				t.Log(err)
			}
		})
	}
	if got := s.rotation("q4").Status.ObservedGeneration; got != -1 {
		t.Errorf("observedGeneration %d before the operator has looked: who waits would think it is done", got)
	}
}
