// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation_test

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/rotation"
)

// said is everything that the operator has told anybody about a rotation.
func (s *shop) said(name string) string {
	s.Helper()
	list := &eventsv1.EventList{}
	if err := s.client.List(s.Context(), list, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	text, err := json.Marshal([]any{s.rotation(name).Status, list.Items})
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

func TestAnUnusableSecretIsRejected(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	for _, c := range []struct{ name, text, reason string }{
		{"empty", "", "SecretEmpty"},
		{"short", "hunter2", "SecretTooShort"},
		{"masked", "********************************", "SecretMasked"},
		{"whitespace", " leading-blank-of-a-secret-0123456789", "SecretWhitespace"},
		{"binary", "\xff\xfe\xfd\xfc0123456789abcdef0123456789", "Secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.secret(c.name, c.text)
			s.rotate(c.name, c.name)
			got := s.reach(c.name, rotation.Rejected)
			if !is(got, v1alpha1.ConditionReady, metav1.ConditionFalse) || !is(got, v1alpha1.ConditionStalled, metav1.ConditionTrue) {
				t.Errorf("conditions %+v", got.Status.Conditions)
			}
			if reason := s.reason(c.name, v1alpha1.ConditionStalled); !strings.HasPrefix(reason, c.reason) {
				t.Errorf("reason %s, want %s", reason, c.reason)
			}
			s.Eventually(func() string { return s.events(c.name)[s.reason(c.name, v1alpha1.ConditionStalled)] }).Should(Equal("Warning"))
			said := s.said(c.name)
			if !strings.Contains(said, `Secret `+c.name+`, key \"secret\"`) {
				t.Errorf("the Secret and the key are not named: %s", said)
			}
			if value := strings.TrimSpace(c.text); value != "" && strings.Contains(said, value) {
				t.Errorf("the value is told: %s", said)
			}
			if string(s.ring().Current.Secret) != alpha {
				t.Error("the keyring was changed")
			}
		})
	}
	s.secret("short", beta)
	s.reach("short", rotation.Propagating)
}

func TestWhatIsMissingIsWaitedFor(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)

	s.rotate("no-secret", "next")
	got := s.reach("no-secret", rotation.Pending)
	if !is(got, v1alpha1.ConditionReconciling, metav1.ConditionTrue) || is(got, v1alpha1.ConditionStalled, metav1.ConditionTrue) {
		t.Errorf("conditions %+v", got.Status.Conditions)
	}
	if reason := s.reason("no-secret", v1alpha1.ConditionReconciling); reason != v1alpha1.ReasonSecretNotFound {
		t.Errorf("reason %s", reason)
	}
	s.secret("keyless", gamma)
	s.rotate("no-key", "keyless", func(r *v1alpha1.SecretRotation) { r.Spec.SecretRef.Key = "signing" })
	s.rotate("no-endpoint", "next", func(r *v1alpha1.SecretRotation) { r.Spec.EndpointRef.Name = "refunds" })
	s.Eventually(func() string { return s.reason("no-endpoint", v1alpha1.ConditionReconciling) }).Should(Equal("EndpointNotFound"))

	s.Eventually(func() string { return s.reason("no-key", v1alpha1.ConditionReconciling) }).Should(Equal(v1alpha1.ReasonSecretKeyMissing))

	s.secret("next", beta)
	s.reach("no-secret", rotation.Propagating)
	s.load(s.receivers...)
	s.reach("no-secret", rotation.OverlapActive)

	endpoint := s.endpoint.DeepCopy()
	endpoint.ObjectMeta = metav1.ObjectMeta{Name: "refunds", Namespace: s.namespace}
	s.create(endpoint)
	s.Eventually(func() string { return s.reason("no-endpoint", v1alpha1.ConditionReconciling) }).Should(Equal("KeyringNotFound"))
}

func TestASecretThatIsCurrentNeedsNoRotation(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	before := s.ringSecret().ResourceVersion
	s.secret("copy", alpha+"\n")
	s.rotate("same", "copy")
	got := s.reach("same", rotation.AlreadyCurrent)
	if !is(got, v1alpha1.ConditionReady, metav1.ConditionTrue) || got.Status.CompletionTime == nil {
		t.Errorf("%+v", got.Status)
	}
	if s.ringSecret().ResourceVersion != before {
		t.Error("the keyring was written")
	}
}

func TestARotationOfTheOperatorSaysWhatTriggeredIt(t *testing.T) {
	s := newShop(t)
	operator(t, s.namespace, s.clock)
	s.secret("first", beta)
	s.rotate("changed", "first", func(r *v1alpha1.SecretRotation) {
		if err := controllerutil.SetControllerReference(s.endpoint, r, s.client.Scheme()); err != nil {
			t.Fatal(err)
		}
	})
	if got := s.reach("changed", rotation.Propagating); got.Status.Trigger != "SecretChange" {
		t.Errorf("trigger %s", got.Status.Trigger)
	}
}

// A keyring that is not the endpoint's, or not readable, is left alone and said.
func TestAKeyringThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(*shop)
		reason string
	}{
		"of somebody else": {func(s *shop) {
			secret := s.ringSecret()
			secret.OwnerReferences = nil
			if err := s.client.Update(s.Context(), secret); err != nil {
				s.Fatal(err)
			}
		}, v1alpha1.ReasonResourceConflict},
		"damaged":            {func(s *shop) { s.overwriteRing(`{"version":1,"salt":"` + gamma + `"}`) }, v1alpha1.ReasonKeyringDamaged},
		"of another release": {func(s *shop) { s.overwriteRing(`{"version":2}`) }, v1alpha1.ReasonKeyringVersion},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			c.edit(s)
			before := s.ringSecret().ResourceVersion
			operator(t, s.namespace, s.clock)
			s.secret("next", beta)
			s.rotate("q4", "next")
			s.Eventually(func() string { return s.reason("q4", v1alpha1.ConditionStalled) }).Should(Equal(c.reason))
			if s.ringSecret().ResourceVersion != before {
				t.Error("the keyring was written")
			}
			if strings.Contains(s.said("q4"), gamma) {
				t.Error("what is in the keyring is told")
			}
		})
	}
}

func (s *shop) overwriteRing(document string) {
	s.Helper()
	secret := s.ringSecret()
	secret.Data[keyring.FileName] = []byte(document)
	if err := s.client.Update(s.Context(), secret); err != nil {
		s.Fatal(err)
	}
}

// A keyring that appears is seen at once, not at the next look at Secrets.
func TestARotationBeforeItsKeyring(t *testing.T) {
	s := newShop(t)
	if err := s.client.Delete(t.Context(), s.ringSecret()); err != nil {
		t.Fatal(err)
	}
	operator(t, s.namespace, s.clock)
	s.secret("next", beta)
	s.rotate("q4", "next")
	s.Eventually(func() string { return s.reason("q4", v1alpha1.ConditionReconciling) }).Should(Equal("KeyringNotFound"))
	s.adopt()
	s.reach("q4", rotation.Propagating)
	if got := s.ringSecret().Name; got != render.NamesOf("payments").Keyring {
		t.Errorf("keyring %s", got)
	}
}
