// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/plugin"
)

// done brings a rotation to its end.
func (s *shop) done(rotation *v1alpha1.SecretRotation, state string) {
	s.Helper()
	at := metav1.NewTime(now)
	rotation.Status.StartTime, rotation.Status.CompletionTime = &at, &at
	s.say(rotation, state, "It is over")
}

// say writes a rotation's condition Ready, of its newest spec.
func (s *shop) say(rotation *v1alpha1.SecretRotation, state, message string, conditions ...string) {
	s.Helper()
	rotation.Status.ObservedGeneration = rotation.Generation
	for _, kind := range append([]string{v1alpha1.ConditionReady}, conditions...) {
		meta.SetStatusCondition(&rotation.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: state, Message: message,
		})
	}
	if err := s.admin.Status().Update(s.Context(), rotation); err != nil {
		s.Fatal(err)
	}
}

// TestChecks looks at the cluster before anything is written.
func TestChecks(t *testing.T) {
	rotate := []string{"rotate", "payments", "--secret", "next"}
	revoke := []string{"revoke", "payments", "--secret", "next"}
	for name, test := range map[string]struct {
		given func(*shop)
		args  []string
		code  int
		texts []string
	}{
		"NewSecret": {
			func(s *shop) { s.put(s.adopted()); s.secret("next", beta) }, rotate, plugin.ExitOK,
			[]string{"name: payments-next\n", "has the fingerprint", "key: secret", "set spec.verification.secretRef"},
		},
		"NoEndpoint": {
			func(*shop) {},
			[]string{"rotate", "refunds", "--secret", "next"},
			plugin.ExitFailed,
			[]string{"WebhookEndpoint refunds does not exist", "--namespace", "--local"},
		},
		"OtherNamespace": {
			func(*shop) {}, append(rotate, "--context", "elsewhere"), plugin.ExitFailed,
			[]string{"does not exist in namespace default"},
		},
		"NoSecretYet": {
			func(s *shop) { s.put(s.adopted()) }, rotate, plugin.ExitOK,
			[]string{"Secret next does not exist", "commit both together", "kind: SecretRotation"},
		},
		"NoSecretToApply": {
			func(s *shop) { s.put(s.adopted()) }, append(rotate, "--apply"), plugin.ExitFailed,
			[]string{"--secret", "Secret next does not exist", "create it"},
		},
		"NoKeyToApply": {
			func(s *shop) { s.put(s.adopted()); s.secret("next", beta) },
			[]string{"rotate", "payments", "--secret", "next/other", "--apply"},
			plugin.ExitFailed,
			[]string{"--secret", `no key "other"`},
		},
		"Masked": {
			func(s *shop) { s.put(s.adopted()); s.secret("next", "****************") }, rotate, plugin.ExitFailed,
			[]string{"--secret", "Secret next"},
		},
		"SameBytes": {
			func(s *shop) { s.put(s.adopted()); s.secret("next", alpha) }, rotate, plugin.ExitFailed,
			[]string{"--secret", "same bytes as the current secret", "fingerprint", "name another Secret"},
		},
		"SameBytesRevoke": {
			func(s *shop) { s.put(s.adopted()); s.secret("next", alpha) }, revoke, plugin.ExitFailed,
			[]string{"the current secret", "nothing to revoke", "--secret names the new secret"},
		},
		"Revoked": {revoked, rotate, plugin.ExitFailed, []string{"--secret", "revoked and stays refused"}},
		"Former":  {former, rotate, plugin.ExitOK, []string{"becomes current again"}},
		"FormerByName": {
			func(s *shop) {
				s.put(s.promoted(s.promoted(s.adopted(), beta, "next", "uid", "payments-next"), gamma, "third", "uid3"))
				s.secret("next", beta)
			}, rotate, plugin.ExitFailed, []string{"--name", "payments-next has made this secret current before"},
		},
		"FormerRevoke": {former, revoke, plugin.ExitFailed, []string{"--secret names the new one", "rotate, and then revoke"}},
		"TooShort": {
			lagging, append(rotate, "--overlap", "30m"), plugin.ExitFailed,
			[]string{"--overlap 30m is too short for scheme Shopify", "--overlap 1h or more", "use revoke"},
		},
		"LongEnough":     {lagging, append(rotate, "--overlap", "1h"), plugin.ExitOK, nil},
		"RevokeAnyway":   {lagging, revoke, plugin.ExitOK, []string{"revocation: Immediate"}},
		"Suspended":      {suspended, rotate, plugin.ExitOK, []string{"is suspended"}},
		"EndpointsOwn":   {func(s *shop) { s.put(s.adopted()) }, []string{"rotate", "payments", "--secret", "first", "--apply"}, plugin.ExitFailed, nil},
		"EndpointsOwnIs": {changedInPlace, []string{"rotate", "payments", "--secret", "first"}, plugin.ExitOK, []string{"names this Secret already"}},
		"NameTaken": {
			func(s *shop) { s.put(s.adopted()); s.secret("next", beta); s.rotation("payments-next", "other") }, rotate, plugin.ExitFailed,
			[]string{"--name", "Secret other", "choose another name"},
		},
		"NameIsOver": {
			func(s *shop) {
				s.put(s.adopted())
				s.secret("next", beta)
				s.done(s.rotation("payments-next", "next"), "Superseded")
			}, rotate, plugin.ExitFailed, []string{"--name", "is over (Superseded)"},
		},
		"DoneAlready": {
			func(s *shop) {
				s.secret("next", beta)
				by := s.rotation("payments-next", "next")
				s.put(s.promoted(s.adopted(), beta, "next", string(by.UID)))
				s.done(by, "Completed")
			}, rotate, plugin.ExitOK, []string{"is there already: Completed"},
		},
		"SecretInReason": {
			func(s *shop) { s.put(s.adopted()); s.secret("next", beta) }, append(rotate, "--reason", "was "+beta), plugin.ExitUsage,
			[]string{"--reason contains the secret"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			test.given(s)
			got := s.run(test.args...)
			s.expect(got, test.code, test.texts...)
			if test.code != plugin.ExitOK && got.out != "" {
				t.Errorf("a manifest that was refused is printed all the same:\n%s", got.out)
			}
		})
	}
}

// former is a shop whose former secret is in the Secret next.
func former(s *shop) {
	s.put(s.promoted(s.adopted(), beta, "first", "uid"))
	s.secret("next", alpha)
}

// revoked is a shop whose revoked secret is in the Secret next.
func revoked(s *shop) {
	s.Helper()
	ring := s.promoted(s.adopted(), beta, "first", "uid")
	ring, err := ring.Revoke(ring.Previous[0].Fingerprint, now)
	if err != nil {
		s.Fatal(err)
	}
	s.put(ring)
	s.secret("next", alpha)
}

// lagging is a shop whose provider goes over to a new secret step by step.
func lagging(s *shop) {
	s.Helper()
	s.endpoint.Spec.Verification.Scheme = "Shopify"
	if err := s.admin.Update(s.Context(), s.endpoint); err != nil {
		s.Fatal(err)
	}
	s.put(s.adopted())
	s.secret("next", beta)
}

func suspended(s *shop) {
	s.Helper()
	s.endpoint.Spec.Suspend = true
	if err := s.admin.Update(s.Context(), s.endpoint); err != nil {
		s.Fatal(err)
	}
	s.put(s.adopted())
	s.secret("next", beta)
}

// changedInPlace is a shop with new bytes in the Secret that the endpoint names.
func changedInPlace(s *shop) {
	s.Helper()
	s.put(s.adopted())
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "first", Namespace: s.namespace}}
	secret.Data = map[string][]byte{"secret": []byte(beta)}
	if err := s.admin.Update(s.Context(), secret); err != nil {
		s.Fatal(err)
	}
}

// TestRevokeOfTheSecretBefore names the secret that is current already: it is the one before it that has leaked.
func TestRevokeOfTheSecretBefore(t *testing.T) {
	t.Run("APersonsRotation", func(t *testing.T) {
		s := newShop(t)
		s.secret("next", beta)
		s.secret("same", beta)
		by := s.rotation("q4", "next", func(r *v1alpha1.SecretRotation) { r.Spec.Overlap = "12h" })
		s.put(s.promoted(s.adopted(), beta, "next", string(by.UID)))
		// It is that one that is changed, and nothing else of it.
		s.expect(s.run("revoke", "payments", "--secret", "same"), plugin.ExitOK,
			"name: q4\n", "overlap: 12h\n", "revocation: Immediate\n", "name: next\n")
	})
	t.Run("TheOperatorsRotation", func(t *testing.T) {
		s := newShop(t)
		s.secret("next", beta)
		by := s.rotation("payments-r1-abcdef", "next", func(r *v1alpha1.SecretRotation) {
			yes := true
			r.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "WebhookEndpoint", Name: "payments", UID: s.endpoint.UID, Controller: &yes,
			}}
		})
		s.put(s.promoted(s.adopted(), beta, "next", string(by.UID)))
		s.expect(s.run("revoke", "payments", "--secret", "next"), plugin.ExitOK, "name: payments-next\n", "revocation: Immediate\n")
	})
	t.Run("Others", func(t *testing.T) {
		s := newShop(t)
		s.secret("next", gamma)
		first := s.rotation("q4", "other")
		by := s.rotation("q5", "next")
		ring := s.promoted(s.promoted(s.adopted(), beta, "other", string(first.UID)), gamma, "next", string(by.UID))
		s.put(ring)
		s.expect(s.run("revoke", "payments", "--secret", "next"), plugin.ExitOK, "name: q5\n",
			"Another former secret, fingerprint "+keyring.Short(ring.Previous[1].Fingerprint), "in SecretRotation q4")
	})
	t.Run("Expired", func(t *testing.T) {
		s := newShop(t)
		s.secret("next", beta)
		by := s.rotation("payments-next", "next")
		ring := s.promoted(s.adopted(), beta, "next", string(by.UID))
		s.put(ring.Retire(now.Add(48 * time.Hour)))
		s.expect(s.run("revoke", "payments", "--secret", "next"), plugin.ExitFailed, "nothing to revoke", "--name")
		s.expect(s.run("revoke", "payments", "--secret", "next", "--name", "leak"), plugin.ExitOK, "name: leak\n")
	})
}

// TestFewRights has a user who may read no Secrets: nothing is checked that they would say, and that is said.
func TestFewRights(t *testing.T) {
	s := newShop(t)
	s.put(s.adopted())
	s.secret("next", alpha)
	user := "developer-" + s.namespace
	s.allow(user, rbacv1.PolicyRule{
		APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"webhookendpoints"}, Verbs: []string{"get"},
	})
	got := s.run("rotate", "payments", "--secret", "next", "--as", user)
	s.expect(got, plugin.ExitOK, "may not read Secret next", "may not read Secret payments-keyring", "may not read the SecretRotations",
		"kind: SecretRotation")
	s.expect(s.run("rotate", "payments", "--secret", "next", "--as", user, "--apply"), plugin.ExitFailed, "may not apply", "leave --apply out")
	if strings.Contains(got.err, "fingerprint") {
		t.Errorf("a fingerprint of what may not be read:\n%s", got.err)
	}
}
