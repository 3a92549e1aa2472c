// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// finish brings a rotation from its start into the overlap.
func (s *shop) finish(name string) *v1alpha1.SecretRotation {
	s.Helper()
	s.reach(name, rotation.Propagating)
	s.load(s.receivers...)
	return s.reach(name, rotation.OverlapActive)
}

// own makes a rotation one of the operator.
func (s *shop) own(r *v1alpha1.SecretRotation) {
	if err := controllerutil.SetControllerReference(s.endpoint, r, s.client.Scheme()); err != nil {
		s.Fatal(err)
	}
}

// An endpoint that is deleted in the overlap is gone at once, and so is its rotation when it is deleted: nothing holds them.
// Nobody writes the keyring, which receivers that still run go by until they go too.
func TestAnEndpointThatIsDeletedInTheOverlap(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	object := s.rotate("q4", "next")
	s.finish("q4")
	before := s.ringSecret()
	if n := len(s.rotation("q4").Finalizers) + len(before.Finalizers); n != 0 {
		t.Errorf("%d finalizers", n)
	}
	if err := s.client.Delete(t.Context(), s.endpoint); err != nil {
		t.Fatal(err)
	}
	s.Eventually(func() string { return s.reason("q4", v1alpha1.ConditionReconciling) }).Should(Equal(rotation.EndpointNotFound))
	if after := s.ringSecret(); after.ResourceVersion != before.ResourceVersion {
		t.Error("the keyring was written")
	}
	if err := s.client.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	s.Eventually(func() error {
		return s.client.Get(t.Context(), client.ObjectKeyFromObject(object), &v1alpha1.SecretRotation{})
	}).Should(MatchError(ContainSubstring("not found")))
}

// A generator writes another value into the Secret every minute: the former ones are accepted for their own overlap, though
// nobody else has them any more.
func TestFormerSecretsAreKeptThoughTheirSourceForgotThem(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	until := map[string]time.Time{}
	for i, text := range []string{beta, gamma} {
		s.secret("first", text)
		name := []string{"minute-1", "minute-2"}[i]
		s.rotate(name, "first", s.own)
		s.finish(name)
		former := s.ring().Previous[0]
		until[string(former.Secret)] = former.NotAfter
		s.clock.pass(time.Minute)
	}
	if err := s.client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "first", Namespace: s.namespace}}); err != nil {
		t.Fatal(err)
	}
	s.clock.pass(23*time.Hour + 50*time.Minute)
	s.looks()
	ring := s.ring()
	if string(ring.Current.Secret) != gamma || len(ring.Accepted(s.clock.now())) != 3 {
		t.Fatalf("%d secrets are accepted after almost a day, want three", len(ring.Accepted(s.clock.now())))
	}
	for _, former := range ring.Previous {
		if want := until[string(former.Secret)]; !former.NotAfter.Equal(want) {
			t.Errorf("a deadline moved from %v to %v", want, former.NotAfter)
		}
	}
}

// A rotation that is deleted and created again asks for nothing new: neither while its secret is current nor later. An
// operator that starts again does not either.
func TestARotationThatIsCreatedAgainRotatesNothing(t *testing.T) {
	s := newShop(t)
	stop := operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.secret("last", gamma)
	again := func(name, secret string) {
		t.Helper()
		if err := s.client.Delete(t.Context(), s.rotation(name)); err != nil {
			t.Fatal(err)
		}
		s.rotate(name, secret)
	}
	s.rotate("q3", "next")
	s.finish("q3")
	again("q3", "next")
	s.reach("q3", rotation.AlreadyCurrent)

	s.rotate("q4", "last")
	s.finish("q4")
	before := s.ringSecret().ResourceVersion
	again("q3", "next")
	got := s.reach("q3", rotation.Superseded)
	if !is(got, v1alpha1.ConditionReady, metav1.ConditionTrue) || got.Status.CompletionTime == nil {
		t.Errorf("applied again: %+v", got.Status)
	}
	stop()
	operator(t, s.namespace, s.clock)
	s.looks()
	if after := s.ringSecret().ResourceVersion; after != before || string(s.ring().Current.Secret) != gamma {
		t.Error("the keyring was written")
	}
}

// An overlap is one instant, however it is written: what the status shows is what receivers go by.
func TestAnOverlapIsOneInstantHoweverItIsWritten(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	for i, c := range []struct {
		written string
		want    time.Duration
	}{
		{"24h", 24 * time.Hour},
		{"86400s", 24 * time.Hour},
		{"1440m", 24 * time.Hour},
		{"90m", 90 * time.Minute},
		{"1.5h", 90 * time.Minute},
		{"1h30m", 90 * time.Minute},
	} {
		name := "overlap-" + string(rune('a'+i))
		s.secret(name, name+"-"+beta)
		s.rotate(name, name, func(r *v1alpha1.SecretRotation) { r.Spec.Overlap = v1alpha1.Duration(c.written) })
		got := s.finish(name)
		end, err := time.Parse(time.RFC3339, got.Status.OverlapEndTime)
		if former := s.ring().Previous[0]; err != nil || !former.NotAfter.Equal(end) || !end.Equal(got.Status.PropagatedTime.Add(c.want)) {
			t.Errorf("%s: shown %s, enforced %v, want %v after %v (%v)", c.written, got.Status.OverlapEndTime, former.NotAfter,
				c.want, got.Status.PropagatedTime, err)
		}
	}
	s.secret("zero", "zero-"+beta)
	s.rotate("zero", "zero", func(r *v1alpha1.SecretRotation) { r.Spec.Overlap = "0s" })
	s.reach("zero", rotation.Propagating)
	s.load(s.receivers...)
	got := s.reach("zero", rotation.Retiring)
	// The one is the second in which the bytes went, the other is rounded up.
	end, err := time.Parse(time.RFC3339, got.Status.OverlapEndTime)
	if early := got.Status.PropagatedTime.Sub(end); err != nil || early < 0 || early > time.Second {
		t.Errorf("0s: until %s, propagated %v (%v)", got.Status.OverlapEndTime, got.Status.PropagatedTime, err)
	}
	negative := &v1alpha1.SecretRotation{
		ObjectMeta: metav1.ObjectMeta{Name: "negative", Namespace: s.namespace}, Spec: *got.Spec.DeepCopy(),
	}
	negative.Spec.Overlap = "-1h"
	if err := s.client.Create(t.Context(), negative); err == nil {
		t.Error("a negative overlap is admitted")
	}
}

// The endpoint's line and a rotation that revokes come in one commit, and the operator's own rotation is first.
func TestAnEmergencyRevokesThoughTheOperatorWasFirst(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.rotate("payments-r1", "next", s.own)
	s.reach("payments-r1", rotation.Propagating)
	s.rotate("leak", "next", func(r *v1alpha1.SecretRotation) { r.Spec.Revocation = v1alpha1.RevocationImmediate })
	s.reach("leak", rotation.Propagating)
	s.reach("payments-r1", rotation.Superseded)
	if len(s.ring().Previous) != 1 {
		t.Fatal("the leaked secret is refused before the new one is accepted everywhere")
	}
	s.load(s.receivers...)
	s.reach("leak", rotation.Retiring)
	s.load(s.receivers...)
	s.reach("leak", rotation.Revoked)
	tombstones := s.ring().Tombstones
	if len(tombstones) != 1 || tombstones[0].Reason != keyring.Revoked || len(s.ring().Previous) != 0 {
		t.Errorf("tombstones %+v", tombstones)
	}
}
