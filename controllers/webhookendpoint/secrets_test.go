// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
)

// TestUnusableSecrets begins without receivers, names the Secret and the key and never a value, and goes on by itself when
// the Secret is mended.
func TestUnusableSecrets(t *testing.T) {
	const short = "hunter2"
	for name, test := range map[string]struct {
		secrets []*corev1.Secret
		reason  string
		stalled bool
		texts   []string
	}{
		"Missing":         {[]*corev1.Secret{database()}, v1alpha1.ReasonSecretNotFound, false, []string{"signing", `"secret"`, "spec.verification.secretRef"}},
		"KeyMissing":      {[]*corev1.Secret{database(), secret("signing", "other", secretText)}, v1alpha1.ReasonSecretKeyMissing, false, []string{"signing", `"secret"`}},
		"Empty":           {[]*corev1.Secret{database(), secret("signing", "secret", "")}, v1alpha1.ReasonSecretEmpty, true, []string{"signing", `"secret"`}},
		"Whitespace":      {[]*corev1.Secret{database(), secret("signing", "secret", " \n\t\n")}, v1alpha1.ReasonSecretEmpty, true, []string{"signing", `"secret"`}},
		"Short":           {[]*corev1.Secret{database(), secret("signing", "secret", short)}, v1alpha1.ReasonSecretTooShort, true, []string{"signing", `"secret"`, "at least"}},
		"LineInside":      {[]*corev1.Secret{database(), secret("signing", "secret", short+"\n"+secretText)}, v1alpha1.ReasonSecretWhitespace, true, []string{"line break"}},
		"DatabaseMissing": {[]*corev1.Secret{signing()}, v1alpha1.ReasonSecretNotFound, false, []string{"database", `"uri"`, "spec.database.secretRef"}},
		"DatabaseEmpty":   {[]*corev1.Secret{signing(), secret("database", "uri", "")}, v1alpha1.ReasonSecretEmpty, true, []string{"database", `"uri"`}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for _, one := range test.secrets {
				b.create(one)
			}
			b.create(paymos("payments"))
			b.settle("payments")
			endpoint := b.endpoint("payments")
			expect(t, endpoint, v1alpha1.ConditionSecretsResolved, metav1.ConditionFalse, test.reason, test.texts...)
			expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, test.reason, test.texts...)
			if test.stalled {
				expect(t, endpoint, v1alpha1.ConditionStalled, metav1.ConditionTrue, test.reason)
				absent(t, endpoint, v1alpha1.ConditionReconciling)
			} else {
				expect(t, endpoint, v1alpha1.ConditionReconciling, metav1.ConditionTrue, test.reason)
				absent(t, endpoint, v1alpha1.ConditionStalled)
			}
			for _, condition := range endpoint.Status.Conditions {
				if strings.Contains(condition.Message, short) || strings.Contains(condition.Message, secretText) {
					t.Errorf("%s shows a secret: %s", condition.Type, condition.Message)
				}
			}
			if strings.Contains(test.texts[0], "signing") {
				err := b.admin.Get(t.Context(), b.key(render.NamesOf("payments").Receiver), &appsv1.Deployment{})
				if !apierrors.IsNotFound(err) {
					t.Errorf("there are receivers without a secret to verify with (%v)", err)
				}
			}

			b.mend(database(), signing())
			b.settle("payments")
			b.run("payments", 2)
			b.settle("payments")
			endpoint = b.endpoint("payments")
			expect(t, endpoint, v1alpha1.ConditionSecretsResolved, metav1.ConditionTrue, v1alpha1.ReasonResolved)
			expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
			absent(t, endpoint, v1alpha1.ConditionStalled)
			absent(t, endpoint, v1alpha1.ConditionReconciling)
		})
	}
}

// mend brings Secrets to the given contents.
func (b *bench) mend(secrets ...*corev1.Secret) {
	b.t.Helper()
	for _, want := range secrets {
		have := &corev1.Secret{}
		err := b.admin.Get(b.t.Context(), b.key(want.Name), have)
		if apierrors.IsNotFound(err) {
			b.create(want)
			continue
		}
		b.update(have, want.Name, func() { have.Data = want.Data })
	}
}

// rotations are the SecretRotations of the bench's namespace.
func (b *bench) rotations() []v1alpha1.SecretRotation {
	b.t.Helper()
	var list v1alpha1.SecretRotationList
	if err := b.admin.List(b.t.Context(), &list, client.InNamespace(b.namespace)); err != nil {
		b.t.Fatal(err)
	}
	return list.Items
}

// serving is a bench with a settled endpoint and two receivers.
func serving(t *testing.T) (*bench, fleet) {
	t.Helper()
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	receivers := b.run("payments", 2)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	return b, receivers
}

func TestSecretThatIsGoneIsServedFromTheKeyring(t *testing.T) {
	b, _ := serving(t)
	if err := b.admin.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "signing", Namespace: b.namespace}}); err != nil {
		t.Fatal(err)
	}
	b.clock.forward(time.Minute)
	b.settle("payments")
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionSecretsResolved, metav1.ConditionFalse, v1alpha1.ReasonServingFromKeyring, "signing", `"secret"`)
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable,
		"/webhooks/payments; the signing Secret signing is gone: serving from the keyring")
	if got := b.warnings(v1alpha1.ReasonServingFromKeyring); got != 1 {
		t.Errorf("%d warnings, want one", got)
	}

	b.create(signing())
	b.settle("payments")
	for _, condition := range b.endpoint("payments").Status.Conditions {
		if strings.Contains(condition.Message, "is gone") {
			t.Errorf("%s still says %q", condition.Type, condition.Message)
		}
	}
	expect(t, b.endpoint("payments"), v1alpha1.ConditionSecretsResolved, metav1.ConditionTrue, v1alpha1.ReasonResolved)
	if made := b.rotations(); len(made) != 0 {
		t.Errorf("the same bytes led to a rotation: %v", made)
	}
}

func TestReferenceToAMissingSecretIsNotReady(t *testing.T) {
	b, _ := serving(t)
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Verification.SecretRef.Name = "elsewhere" })
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSecretNotFound, "elsewhere")
}

func TestSecretThatIsSpoiledLaterIsReportedWhileReceiversGoOn(t *testing.T) {
	b, _ := serving(t)
	before := b.ring("payments")
	b.mend(secret("signing", "secret", ""))
	b.clock.forward(time.Minute)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSecretEmpty, "signing", `"secret"`)
	if after := b.ring("payments"); after.Revision != before.Revision {
		t.Error("the keyring was changed for an empty secret")
	}
	if b.endpoint("payments").Status.CurrentSecret == nil {
		t.Error("the status forgot the secret that is live")
	}
}

func TestChangedBytesAskForARotation(t *testing.T) {
	b, receivers := serving(t)
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() {
		endpoint.Spec.Verification.Retire, endpoint.Spec.Verification.MaxOverlap = v1alpha1.RetireWhenUnused, "100h"
	})
	b.settle("payments")
	b.mend(secret("signing", "secret", "whsec_ffffffffffffffffffffffffffffffff"))

	b.pass("payments")
	if made := b.rotations(); len(made) != 0 {
		t.Fatal("the Secret was read before its time")
	}
	b.clock.forward(time.Minute)
	b.load("payments", receivers)
	b.settle("payments")
	b.settle("payments")
	made := b.rotations()
	if len(made) != 1 {
		t.Fatalf("%d rotations, want one: %v", len(made), made)
	}
	rotation := made[0]
	fingerprint := b.ring("payments").Fingerprint([]byte("whsec_ffffffffffffffffffffffffffffffff"))
	if want := "payments-r1-" + fingerprint[:8]; rotation.Name != want {
		t.Errorf("rotation %s, want %s", rotation.Name, want)
	}
	if !metav1.IsControlledBy(&rotation, endpoint) {
		t.Error("the rotation is not owned by the endpoint")
	}
	want := v1alpha1.SecretRotationSpec{
		EndpointRef: v1alpha1.EndpointReference{Name: "payments"},
		SecretRef:   endpoint.Spec.Verification.SecretRef,
		Overlap:     "24h",
		Retire:      v1alpha1.RetireWhenUnused,
		MaxOverlap:  "100h",
		Revocation:  v1alpha1.RevocationAfterOverlap,
	}
	if rotation.Spec != want {
		t.Errorf("rotation %+v, want %+v", rotation.Spec, want)
	}
}

// TestChangeThatCameBackIsRotatedTheNextTime changes the bytes and back before the rotation has begun, which ends it with
// nothing done; the same change made later must not take that for its answer.
func TestChangeThatCameBackIsRotatedTheNextTime(t *testing.T) {
	b, receivers := serving(t)
	b.mend(secret("signing", "secret", "whsec_ffffffffffffffffffffffffffffffff"))
	b.clock.forward(time.Minute)
	b.load("payments", receivers)
	b.settle("payments")
	made := b.rotations()
	if len(made) != 1 {
		t.Fatalf("%d rotations, want one", len(made))
	}
	over := &made[0]
	over.Status.CompletionTime = &metav1.Time{Time: b.clock.now()}
	if err := b.admin.Status().Update(t.Context(), over); err != nil {
		t.Fatal(err)
	}
	b.clock.forward(time.Minute)
	b.settle("payments")
	names := map[string]bool{}
	for _, rotation := range b.rotations() {
		names[rotation.Name] = true
	}
	if want := map[string]bool{over.Name: true, over.Name + "-2": true}; !maps.Equal(names, want) {
		t.Errorf("rotations %v, want %v", names, want)
	}
}

func TestUnknownBytesThatAReceiverSeesAreReadAtOnce(t *testing.T) {
	b, receivers := serving(t)
	b.mend(secret("signing", "secret", "whsec_ffffffffffffffffffffffffffffffff"))
	receivers[1].set(func(status *receiverstatus.Status) {
		status.Source = receiverstatus.Source{Present: true, Fingerprint: strings.Repeat("ab", 32)}
	})
	b.pass("payments")
	if made := b.rotations(); len(made) != 1 {
		t.Errorf("%d rotations, want one", len(made))
	}
}

func TestRotationThatSomebodyAskedForIsNotDoubled(t *testing.T) {
	b, _ := serving(t)
	b.create(&v1alpha1.SecretRotation{
		ObjectMeta: metav1.ObjectMeta{Name: "payments-q4"},
		Spec: v1alpha1.SecretRotationSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: "payments"},
			SecretRef:   v1alpha1.SecretKeyReference{Name: "signing", Key: "secret"},
			Overlap:     "1h",
		},
	})
	b.mend(secret("signing", "secret", "whsec_ffffffffffffffffffffffffffffffff"))
	b.clock.forward(time.Minute)
	b.settle("payments")
	if made := b.rotations(); len(made) != 1 {
		t.Errorf("%d rotations, want the one that was asked for", len(made))
	}
}

// put writes a keyring, as the controller of rotations does.
func (b *bench) put(endpoint string, ring *keyring.Keyring) {
	b.t.Helper()
	document, err := ring.Encode()
	if err != nil {
		b.t.Fatal(err)
	}
	secret := &corev1.Secret{}
	b.update(secret, render.NamesOf(endpoint).Keyring, func() { secret.Data[keyring.FileName] = document })
}

// promote makes another secret current, that came from the given Secret.
func (b *bench) promote(endpoint, text, from string) *keyring.Keyring {
	b.t.Helper()
	ring, _, err := b.ring(endpoint).Promote(keyring.Candidate{
		Key: []byte(text), Secret: []byte(text), Source: keyring.Source{Name: from, Key: "secret"}, Rotation: "uid",
	}, b.clock.now(), b.clock.now().Add(time.Hour))
	if err != nil {
		b.t.Fatal(err)
	}
	b.put(endpoint, ring)
	return ring
}

func TestOverlapIsShownAndHealthy(t *testing.T) {
	b, receivers := serving(t)
	ring := b.promote("payments", "whsec_ffffffffffffffffffffffffffffffff", "signing-q4")
	used := b.clock.now().Add(-time.Minute)
	b.load("payments", receivers)
	receivers[0].set(func(status *receiverstatus.Status) {
		status.Secrets = append(status.Secrets, receiverstatus.Secret{Fingerprint: ring.Previous[0].Fingerprint, Uses: 3, LastUsed: used})
	})
	b.settle("payments")
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionOverlapActive, metav1.ConditionTrue, v1alpha1.ReasonDualSecrets)
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	absent(t, endpoint, v1alpha1.ConditionReconciling)
	expect(t, endpoint, v1alpha1.ConditionSourceDiverged, metav1.ConditionTrue, v1alpha1.ReasonSecretRefNotUpdated, "signing-q4")
	status := endpoint.Status
	if status.OverlapEndTime != ring.Previous[0].NotAfter.UTC().Format(time.RFC3339) {
		t.Errorf("overlap until %q, want %v", status.OverlapEndTime, ring.Previous[0].NotAfter)
	}
	if status.CurrentSecret.Fingerprint != keyring.Short(ring.Current.Fingerprint) || status.CurrentSecret.Source.Name != "signing-q4" {
		t.Errorf("current secret %+v", status.CurrentSecret)
	}
	if len(status.PreviousSecrets) != 1 || status.PreviousSecrets[0].LastUsedTime == nil ||
		!status.PreviousSecrets[0].LastUsedTime.Time.Equal(used.Truncate(time.Second)) {
		t.Errorf("previous secrets %+v, want one that was used at %v", status.PreviousSecrets, used)
	}
	if len(b.rotations()) != 0 {
		t.Error("a spec that lags behind a SecretRotation led to a rotation back")
	}

	b.clock.forward(2 * time.Hour)
	b.load("payments", receivers)
	b.settle("payments")
	endpoint = b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionOverlapActive, metav1.ConditionFalse, v1alpha1.ReasonSingleSecret)
	if endpoint.Status.OverlapEndTime != "" || len(endpoint.Status.PreviousSecrets) != 0 {
		t.Errorf("after the overlap the status has %q and %v", endpoint.Status.OverlapEndTime, endpoint.Status.PreviousSecrets)
	}
}

func TestRevertedCommitRotatesBack(t *testing.T) {
	b, receivers := serving(t)
	b.promote("payments", "whsec_ffffffffffffffffffffffffffffffff", "signing")
	b.load("payments", receivers)
	b.settle("payments")
	made := b.rotations()
	if len(made) != 1 || !strings.HasPrefix(made[0].Name, "payments-r2-") {
		t.Errorf("rotations %v, want one of revision 2", made)
	}
}

// TestRevertedReferenceRotatesBack names another Secret and then the first again, as a commit and its revert do.
func TestRevertedReferenceRotatesBack(t *testing.T) {
	b, receivers := serving(t)
	b.create(secret("signing-q4", "secret", "whsec_ffffffffffffffffffffffffffffffff"))
	refer := func(name string) {
		endpoint := &v1alpha1.WebhookEndpoint{}
		b.update(endpoint, "payments", func() { endpoint.Spec.Verification.SecretRef.Name = name })
		b.settle("payments")
	}
	refer("signing-q4")
	made := b.rotations()
	if len(made) != 1 {
		t.Fatalf("%d rotations, want one", len(made))
	}
	ring, _, err := b.ring("payments").Promote(keyring.Candidate{
		Key: []byte("whsec_ffffffffffffffffffffffffffffffff"), Secret: []byte("whsec_ffffffffffffffffffffffffffffffff"),
		Source: keyring.Source{Name: "signing-q4", Key: "secret"}, Rotation: string(made[0].UID),
	}, b.clock.now(), b.clock.now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	b.put("payments", ring)
	b.load("payments", receivers)
	b.settle("payments")
	refer("signing")
	if made := b.rotations(); len(made) != 2 {
		t.Errorf("%d rotations, want one to the new Secret and one back", len(made))
	}
	absent(t, b.endpoint("payments"), v1alpha1.ConditionSourceDiverged)
}

func TestRevokedSecretIsNotBroughtBack(t *testing.T) {
	b, receivers := serving(t)
	ring := b.promote("payments", "whsec_ffffffffffffffffffffffffffffffff", "signing")
	revoked, err := ring.Revoke(ring.Previous[0].Fingerprint, b.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	b.put("payments", revoked)
	b.load("payments", receivers)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSecretRevoked, "signing", `"secret"`)
	if made := b.rotations(); len(made) != 0 {
		t.Errorf("a revoked secret led to a rotation: %v", made)
	}
}
