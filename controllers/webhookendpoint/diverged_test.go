// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
)

const nextText = "whsec_ffffffffffffffffffffffffffffffff"

// ahead is an endpoint whose secret a SecretRotation has changed, as its controller does, to that of another Secret.
func ahead(t *testing.T) (*bench, []*receiver) {
	t.Helper()
	b, receivers := serving(t)
	b.create(secret("signing-q4", "secret", nextText))
	rotation := &v1alpha1.SecretRotation{
		ObjectMeta: metav1.ObjectMeta{Name: "payments-q4"},
		Spec: v1alpha1.SecretRotationSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: "payments"},
			SecretRef:   v1alpha1.SecretKeyReference{Name: "signing-q4", Key: "secret"},
		},
	}
	b.create(rotation)
	ring, _, err := b.ring("payments").Promote(keyring.Candidate{
		Key: []byte(nextText), Secret: []byte(nextText), Source: keyring.Source{Name: "signing-q4", Key: "secret"},
		Rotation: string(rotation.UID), Name: rotation.Name,
	}, b.clock.now(), b.clock.now().Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	b.put("payments", ring)
	b.load("payments", receivers)
	b.settle("payments")
	return b, receivers
}

// refer changes the endpoint's line.
func (b *bench) refer(name string) {
	b.t.Helper()
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Verification.SecretRef.Name = name })
	b.settle("payments")
}

// prune removes the rotation and its Secret, as Flux does with what has left Git, and lets the operator look again.
func (b *bench) prune() {
	b.t.Helper()
	rotation := &v1alpha1.SecretRotation{}
	b.get(rotation, "payments-q4")
	for _, err := range []error{b.admin.Delete(b.t.Context(), rotation), b.admin.Delete(b.t.Context(), named("signing-q4", b.namespace))} {
		if err != nil {
			b.t.Fatal(err)
		}
	}
	b.eventually("the rotation is gone from the cache", func() string {
		if err := b.cached.Get(b.t.Context(), b.key("payments-q4"), &v1alpha1.SecretRotation{}); err == nil {
			return "it is there"
		}
		return ""
	})
	b.clock.forward(time.Minute)
	b.settle("payments")
}

// A SecretRotation and the line of the endpoint are taken back by one revert: whichever of the two is seen first, the secret
// that the spec names becomes current again, and the other one has an overlap.
func TestARotationThatIsTakenBackWithItsLineRotatesBack(t *testing.T) {
	for name, revert := range map[string]func(*bench){
		"the line first": func(b *bench) {
			b.refer("signing")
			expect(b.t, b.endpoint("payments"), v1alpha1.ConditionSourceDiverged, metav1.ConditionTrue, v1alpha1.ReasonSecretRefReverted,
				"{name: signing-q4, key: secret}", "delete that SecretRotation", "payments-q4")
			if made := b.rotations(); len(made) != 1 {
				b.t.Errorf("%d rotations while the one in Git is there, want that one", len(made))
			}
			b.prune()
		},
		"the rotation first": func(b *bench) {
			b.prune()
			b.refer("signing")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := ahead(t)
			b.refer("signing-q4")
			absent(t, b.endpoint("payments"), v1alpha1.ConditionSourceDiverged)
			revert(b)
			made := b.rotations()
			if len(made) != 1 || made[0].Spec.SecretRef.Name != "signing" || len(made[0].OwnerReferences) != 1 {
				t.Fatalf("rotations %v, want one of the operator, to Secret signing", made)
			}
			absent(t, b.endpoint("payments"), v1alpha1.ConditionSourceDiverged)
		})
	}
}

// A rotation that leaves Git though its line was never changed is over, and nobody has asked for the former secret.
func TestARotationThatLeavesGitBeforeItsLineIsChangedRotatesNothing(t *testing.T) {
	b, _ := ahead(t)
	expect(t, b.endpoint("payments"), v1alpha1.ConditionSourceDiverged, metav1.ConditionTrue, v1alpha1.ReasonSecretRefNotUpdated,
		"{name: signing-q4, key: secret}")
	b.prune()
	expect(t, b.endpoint("payments"), v1alpha1.ConditionSourceDiverged, metav1.ConditionTrue, v1alpha1.ReasonSecretRefNotUpdated,
		"Secret signing-q4 is gone", "receivers go on")
	if made := b.rotations(); len(made) != 0 {
		t.Errorf("rotations %v, want none", made)
	}
}

// After an emergency the endpoint names the revoked secret until its line is changed, and says the line.
func TestARevokedSourceNamesTheLineToChange(t *testing.T) {
	b, receivers := ahead(t)
	ring := b.ring("payments")
	revoked, err := ring.Revoke(ring.Previous[0].Fingerprint, b.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	b.put("payments", revoked)
	b.load("payments", receivers)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSecretRevoked,
		"Secret signing, key", "set spec.verification.secretRef to {name: signing-q4, key: secret}")
	b.refer("signing-q4")
	absent(t, b.endpoint("payments"), v1alpha1.ConditionStalled)
}

func named(name, namespace string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
}
