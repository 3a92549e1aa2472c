// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/controllers/webhookendpoint"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// use lets a receiver verify n deliveries with a secret.
func (r *receiver) use(fingerprint string, n int64, at time.Time) {
	r.set(func(status *receiverstatus.Status) {
		for i := range status.Secrets {
			if secret := &status.Secrets[i]; secret.Fingerprint == fingerprint {
				secret.Uses, secret.LastUsed = secret.Uses+n, at
				return
			}
		}
		status.Secrets = append(status.Secrets, receiverstatus.Secret{Fingerprint: fingerprint, Uses: n, LastUsed: at})
	})
}

// candidate is a secret that may become current.
func candidate(text string) keyring.Candidate {
	return keyring.Candidate{
		Key: []byte(text), Secret: []byte(text), Source: keyring.Source{Name: "signing-q4", Key: "secret"}, Rotation: "uid",
	}
}

// current is what the status shows of the current secret.
func (b *bench) current() v1alpha1.SecretStatus {
	b.t.Helper()
	shown := b.endpoint("payments").Status.CurrentSecret
	if shown == nil {
		b.t.Fatal("the status shows no current secret")
	}
	return *shown
}

// TestUseIsWrittenEveryFiveMinutes has a current and a former secret in use for an hour, with a pass every ten seconds.
func TestUseIsWrittenEveryFiveMinutes(t *testing.T) {
	b, receivers := serving(t)
	document := b.ring("payments")
	for _, text := range []string{"whsec_ffffffffffffffffffffffffffffffff", "whsec_eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"} {
		var err error
		document, _, err = document.Promote(candidate(text), b.clock.now(), b.clock.now().Add(24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
	}
	b.put("payments", document)
	b.load("payments", receivers)
	b.settle("payments")

	before, written := b.writes.Load(), 0
	for range 360 {
		b.clock.forward(10 * time.Second)
		for i, entry := range document.Accepted(b.clock.now()) {
			receivers[i%2].use(entry.Fingerprint, 7, b.clock.now())
		}
		last := b.writes.Load()
		b.pass("payments")
		if b.writes.Load() != last {
			written++
			b.eventually("the cache follows", func() string { return b.lag("payments") })
		}
	}
	if got := b.writes.Load() - before; got != int64(written) || written > 12 || written < 11 {
		t.Errorf("%d passes of 360 wrote, with %d requests; want one every five minutes in an hour", written, got)
	}
	status := b.endpoint("payments").Status
	for _, secret := range append(status.PreviousSecrets, *status.CurrentSecret) {
		// Nothing that is shown is older than five minutes.
		if secret.Uses < 330*7 || b.clock.now().Sub(secret.LastUsedTime.Time) > 5*time.Minute+10*time.Second {
			t.Errorf("after 2520 uses, the last at %v, the status shows %+v", b.clock.now(), secret)
		}
	}
	if len(status.PreviousSecrets) != 2 {
		t.Errorf("previous secrets %+v, want two", status.PreviousSecrets)
	}
}

func TestFirstUseIsShownAtOnce(t *testing.T) {
	b, receivers := serving(t)
	fingerprint := b.ring("payments").Current.Fingerprint
	if shown := b.current(); shown.Uses != 0 || shown.LastUsedTime != nil {
		t.Fatalf("a secret that was not used is shown as %+v", shown)
	}
	receivers[0].use(fingerprint, 1, b.clock.now())
	b.pass("payments")
	if shown := b.current(); shown.Uses != 1 || shown.LastUsedTime == nil {
		t.Errorf("after the first use the status shows %+v", shown)
	}
}

// TestUsesSurviveRestarts replaces receivers, as a changed secretRef does, and the operator.
func TestUsesSurviveRestarts(t *testing.T) {
	b, receivers := serving(t)
	fingerprint := b.ring("payments").Current.Fingerprint
	shown := func(what string, want int64) {
		t.Helper()
		b.clock.forward(6 * time.Minute)
		b.settle("payments")
		if got := b.current().Uses; got != want {
			t.Errorf("%s: %d uses, want %d", what, got, want)
		}
	}
	receivers[0].use(fingerprint, 100, b.clock.now())
	receivers[1].use(fingerprint, 50, b.clock.now())
	shown("two receivers", 150)

	b.load("payments", receivers[:1])
	receivers[0].use(fingerprint, 20, b.clock.now())
	shown("one was restarted", 170)
	used := b.current().LastUsedTime

	b.load("payments", receivers)
	shown("both were restarted", 170)
	if got := b.current().LastUsedTime; !got.Equal(used) {
		t.Errorf("last used at %v, and after a restart at %v", used, got)
	}

	receivers[1].use(fingerprint, 30, b.clock.now())
	shown("before the operator goes", 200)
	receivers[0].hush(true)
	receivers[0].use(fingerprint, 40, b.clock.now())
	b.reconciler = webhookendpoint.New(b.cached, b.admin, b.recorder, b.clock.now, webhookendpoint.Options{
		Render: settings, StatusInterval: 10 * time.Second, SecretInterval: 30 * time.Second, Concurrency: 1,
	})
	shown("a new operator", 200)
	receivers[0].hush(false)
	shown("what a receiver counted by then is known", 200)
	receivers[0].use(fingerprint, 5, b.clock.now())
	shown("and goes on from there", 205)
}

// hush lets a receiver not answer.
func (r *receiver) hush(away bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.away = away
}

// TestOldSecretStillInUseIsMirrored shows on the endpoint what its rotation warns of.
func TestOldSecretStillInUseIsMirrored(t *testing.T) {
	b, receivers := serving(t)
	rotation := &v1alpha1.SecretRotation{
		ObjectMeta: metav1.ObjectMeta{Name: "payments-q4"},
		Spec: v1alpha1.SecretRotationSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: "payments"},
			SecretRef:   v1alpha1.SecretKeyReference{Name: "signing-q4", Key: "secret"},
		},
	}
	b.create(rotation)
	next := candidate("whsec_ffffffffffffffffffffffffffffffff")
	next.Rotation = string(rotation.UID)
	ring, _, err := b.ring("payments").Promote(next, b.clock.now(), b.clock.now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	b.put("payments", ring)
	b.load("payments", receivers)
	b.settle("payments")
	absent(t, b.endpoint("payments"), v1alpha1.ConditionOldSecretStillInUse)

	said := func(status metav1.ConditionStatus) {
		t.Helper()
		patch := client.MergeFrom(rotation.DeepCopy())
		if status == metav1.ConditionTrue {
			meta.SetStatusCondition(&rotation.Status.Conditions, metav1.Condition{
				Type: v1alpha1.ConditionOldSecretStillInUse, Status: status, Reason: "OldSecretStillInUse",
				Message: "The provider still signs with the former secret",
			})
		} else {
			meta.RemoveStatusCondition(&rotation.Status.Conditions, v1alpha1.ConditionOldSecretStillInUse)
		}
		if err := b.admin.Status().Patch(t.Context(), rotation, patch); err != nil {
			t.Fatal(err)
		}
		b.shown(rotation)
		b.settle("payments")
	}
	said(metav1.ConditionTrue)
	expect(t, b.endpoint("payments"), v1alpha1.ConditionOldSecretStillInUse, metav1.ConditionTrue, "OldSecretStillInUse",
		"SecretRotation payments-q4: The provider still signs")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	if got := b.warnings("OldSecretStillInUse"); got != 1 {
		t.Errorf("%d warnings, want one", got)
	}
	said(metav1.ConditionFalse)
	absent(t, b.endpoint("payments"), v1alpha1.ConditionOldSecretStillInUse)

	said(metav1.ConditionTrue)
	b.clock.forward(2 * time.Hour)
	b.load("payments", receivers)
	b.settle("payments")
	absent(t, b.endpoint("payments"), v1alpha1.ConditionOldSecretStillInUse)
}
