// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/rotation"
)

// overlapping is a rotation with an overlap of ten hours, half an hour before its end.
func overlapping(t *testing.T, retire v1alpha1.Retire) (s *shop, fingerprint string, end time.Time) {
	t.Helper()
	s = newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.rotate("q4", "next", func(r *v1alpha1.SecretRotation) {
		r.Spec.Overlap, r.Spec.Retire = "10h", retire
	})
	s.reach("q4", rotation.Propagating)
	s.load(s.receivers...)
	s.reach("q4", rotation.OverlapActive)
	s.load(s.receivers...)
	former := s.ring().Previous[0]
	s.clock.pass(9*time.Hour + 30*time.Minute)
	s.looks()
	if is(s.rotation("q4"), v1alpha1.ConditionOldSecretStillInUse, metav1.ConditionTrue) {
		t.Fatal("people are warned of a secret that nobody uses")
	}
	return s, former.Fingerprint, former.NotAfter
}

func (s *shop) warned(name string) string {
	s.Helper()
	s.Eventually(func() bool {
		return is(s.rotation(name), v1alpha1.ConditionOldSecretStillInUse, metav1.ConditionTrue)
	}).Should(BeTrue())
	s.Eventually(func() string { return s.events(name)["OldSecretStillInUse"] }).Should(Equal("Warning"))
	got := meta.FindStatusCondition(s.rotation(name).Status.Conditions, v1alpha1.ConditionOldSecretStillInUse)
	return got.Message
}

func TestAFormerSecretInUseIsWarnedOfAndRefusedInTime(t *testing.T) {
	s, fingerprint, end := overlapping(t, v1alpha1.RetireAtDeadline)
	s.receivers[0].use(fingerprint, s.clock.now())
	if said := s.warned("q4"); !strings.Contains(said, end.UTC().Format(time.RFC3339)) || !strings.Contains(said, "spec.overlap") {
		t.Errorf("the warning says %q", said)
	}
	s.looks()
	if former := s.ring().Previous[0]; !former.NotAfter.Equal(end) {
		t.Errorf("accepted until %v, want %v", former.NotAfter, end)
	}
	if got := s.rotation("q4"); !is(got, v1alpha1.ConditionReady, metav1.ConditionTrue) {
		t.Errorf("conditions %+v", got.Status.Conditions)
	}
	s.clock.pass(31 * time.Minute)
	if got := s.reach("q4", rotation.Retiring); is(got, v1alpha1.ConditionOldSecretStillInUse, metav1.ConditionTrue) {
		t.Error("people are warned of a secret that is refused")
	}
}

func TestAFormerSecretIsKeptWhileItIsUsed(t *testing.T) {
	s, fingerprint, end := overlapping(t, v1alpha1.RetireWhenUnused)
	used := s.clock.now()
	s.receivers[0].use(fingerprint, used)
	s.Eventually(func() time.Time { return s.ring().Previous[0].NotAfter }).Should(BeTemporally(">", end))
	if until := s.ring().Previous[0].NotAfter; until.Before(used.Add(10*time.Hour)) || until.After(used.Add(10*time.Hour+2*time.Second)) {
		t.Errorf("accepted until %v, want ten hours after %v", until, used)
	}
	if said := s.warned("q4"); !strings.Contains(said, "while it is used") {
		t.Errorf("the warning says %q", said)
	}
	if got := s.rotation("q4"); got.Status.OverlapEndTime != s.ring().Previous[0].NotAfter.UTC().Format(time.RFC3339) {
		t.Errorf("shown %s, enforced %v", got.Status.OverlapEndTime, s.ring().Previous[0].NotAfter)
	}
	s.clock.pass(10*time.Hour + time.Minute)
	if got := s.reach("q4", rotation.Retiring); is(got, v1alpha1.ConditionOldSecretStillInUse, metav1.ConditionTrue) {
		t.Error("people are warned of a secret that is refused")
	}
}

func TestAnOverlapShorterThanTheProviderNeeds(t *testing.T) {
	s := newShop(t)
	endpoint := &v1alpha1.WebhookEndpoint{}
	s.get("payments", endpoint)
	endpoint.Spec.Verification.Scheme = "Shopify"
	if err := s.client.Update(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.rotate("q4", "next", func(r *v1alpha1.SecretRotation) { r.Spec.Overlap = "30m" })
	got := s.reach("q4", rotation.Rejected)
	if reason := s.reason("q4", v1alpha1.ConditionStalled); reason != rotation.OverlapTooShort {
		t.Errorf("reason %s, want %s: %+v", reason, rotation.OverlapTooShort, got.Status.Conditions)
	}
	if string(s.ring().Current.Secret) != alpha {
		t.Error("the secret changed")
	}
}
