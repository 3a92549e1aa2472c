// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/controllers/webhookendpoint"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/render"
)

// look lets the operator look at the Secrets again.
func (b *bench) look() {
	b.t.Helper()
	b.clock.forward(time.Minute)
	b.settle("payments")
}

// A Secret that flaps between two values for ten minutes before anything rotates is one request.
func TestAFlappingSecretIsAskedForOnce(t *testing.T) {
	b, receivers := serving(t)
	for i := range 20 {
		b.mend(secret("signing", "secret", []string{nextText, secretText}[i%2]))
		b.clock.forward(30 * time.Second)
		b.load("payments", receivers)
		b.pass("payments")
	}
	b.load("payments", receivers)
	b.settle("payments")
	if made := b.rotations(); len(made) != 1 {
		t.Errorf("%d rotations, want one", len(made))
	}
}

// A Secret with two keys is updated in two writes: only the key that the endpoint names counts.
func TestAnotherKeyOfTheSecretRotatesNothing(t *testing.T) {
	b, _ := serving(t)
	two := secret("signing", "secret", secretText)
	two.Data["id"] = []byte("key-2026-q4")
	b.mend(two)
	b.look()
	if made := b.rotations(); len(made) != 0 {
		t.Fatalf("the other key led to a rotation: %v", made)
	}
	two.Data["secret"] = []byte(nextText)
	b.mend(two)
	b.look()
	if made := b.rotations(); len(made) != 1 {
		t.Errorf("%d rotations, want one", len(made))
	}
}

// Immutable Secrets are not edited, which the API server sees to, but followed by others.
func TestImmutableSecretsAreFollowedByOthers(t *testing.T) {
	b := newBench(t)
	immutable := true
	first, next := signing(), secret("signing-q4", "secret", nextText)
	first.Immutable, next.Immutable = &immutable, &immutable
	b.create(database(), first, next, paymos("payments"))
	b.settle("payments")
	edited := first.DeepCopy()
	edited.Data["secret"] = []byte(nextText)
	if err := b.admin.Update(t.Context(), edited); !apierrors.IsInvalid(err) {
		t.Fatalf("an immutable Secret was edited (%v)", err)
	}
	b.look()
	if made := b.rotations(); len(made) != 0 {
		t.Errorf("the refused edit led to a rotation: %v", made)
	}
	b.refer("signing-q4")
	if made := b.rotations(); len(made) != 1 || made[0].Spec.SecretRef.Name != "signing-q4" {
		t.Errorf("rotations %v, want one to the other Secret", made)
	}
}

// Nothing is made in a namespace that is being deleted, and nothing of ours holds it.
func TestANamespaceThatIsBeingDeleted(t *testing.T) {
	b, _ := serving(t)
	if err := b.admin.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}); err != nil {
		t.Fatal(err)
	}
	b.mend(secret("signing", "secret", nextText))
	b.clock.forward(time.Minute)
	// The API server refuses to create a rotation there. Whether that is an error to try again or one to tell, it harms nothing.
	result, err := b.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: b.key("payments")})
	if err == nil && result.RequeueAfter == 0 {
		t.Error("a refused write is forgotten")
	}
	if made := b.rotations(); len(made) != 0 {
		t.Errorf("rotations %v in a namespace that goes", made)
	}
	endpoint, ring := b.endpoint("payments"), &corev1.Secret{}
	b.get(ring, render.NamesOf("payments").Keyring)
	if n := len(endpoint.Finalizers) + len(ring.Finalizers); n != 0 {
		t.Errorf("%d finalizers hold the namespace", n)
	}
	if err := b.admin.Delete(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	if err := b.admin.Get(t.Context(), b.key("payments"), endpoint); !apierrors.IsNotFound(err) {
		t.Errorf("the endpoint is still there (%v)", err)
	}
}

// To adopt a secret is to read it: the user's Secret gets no write, no owner and no label.
func TestAdoptionDoesNotTouchTheSecret(t *testing.T) {
	b := newBench(t)
	touched := &atomic.Int64{}
	watch := intercept(func(request *http.Request) *http.Response {
		if request.Method != http.MethodGet && strings.HasSuffix(request.URL.Path, "/secrets/signing") {
			touched.Add(1)
		}
		return nil
	})
	b.intercept.Store(&watch)
	mine := signing()
	b.create(database(), mine, paymos("payments"))
	b.settle("payments")
	b.look()
	after := &corev1.Secret{}
	b.get(after, "signing")
	if touched.Load() != 0 || after.ResourceVersion != mine.ResourceVersion || len(after.OwnerReferences)+len(after.Labels) != 0 {
		t.Errorf("%d writes to the user's Secret, which is %+v", touched.Load(), after.ObjectMeta)
	}
	if ring := b.ring("payments"); string(ring.Current.Secret) != secretText || len(ring.Previous) != 0 {
		t.Error("the secret was not adopted as it is")
	}
	if made := b.rotations(); len(made) != 0 {
		t.Errorf("an adoption led to a rotation: %v", made)
	}
}

// A rotation replaces no pod and changes no address; nor do an operator that starts again, and labels on the user's Secret.
func TestNothingRollsOutAndNoURLChanges(t *testing.T) {
	b, receivers := serving(t)
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() { endpoint.Spec.Exposure.Host = "hooks.example.com" })
	b.settle("payments")
	deployment := func() *appsv1.Deployment {
		d := &appsv1.Deployment{}
		b.get(d, render.NamesOf("payments").Receiver)
		return d
	}
	before, address := deployment().Generation, b.endpoint("payments").Status
	same := func(after string) {
		t.Helper()
		now := b.endpoint("payments").Status
		if got := deployment().Generation; got != before {
			t.Errorf("after %s the Deployment has generation %d, and had %d", after, got, before)
		}
		if now.URL != address.URL || now.Path != address.Path || now.ServiceName != address.ServiceName || now.URL == "" {
			t.Errorf("after %s the address is %q, %q, %q", after, now.URL, now.Path, now.ServiceName)
		}
	}
	labeled := &corev1.Secret{}
	b.update(labeled, "signing", func() { labeled.Labels = map[string]string{"reconcile.external-secrets.io/managed": "true"} })
	b.look()
	same("a label")

	ring := b.promote("payments", nextText, "signing")
	b.mend(secret("signing", "secret", nextText))
	b.load("payments", receivers)
	b.look()
	same("a rotation")
	retired, err := ring.Expire(ring.Previous[0].Fingerprint, b.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	b.put("payments", retired)
	b.load("payments", receivers)
	b.look()
	same("its end")
	for range 5 {
		b.reconciler = webhookendpoint.New(b.cached, b.admin, b.recorder, b.clock.now, webhookendpoint.Options{
			Render: settings, StatusInterval: 10 * time.Second, SecretInterval: 30 * time.Second, Concurrency: 1,
		})
		b.settle("payments")
	}
	same("five starts")
	if b.ring("payments").Standing(keyring.Candidate{Key: []byte(nextText), Secret: []byte(nextText)}) != keyring.IsCurrent {
		t.Error("the new secret is not current")
	}
}

// References have no namespace, so that nobody's endpoint reads another namespace's Secret; and there is one version, so that
// nothing is converted in an overlap. A second version needs a test of its own conversion, and fails this one.
func TestReferencesStayInTheirNamespaceAndVersion(t *testing.T) {
	for file, crd := range definitions(t) {
		if versions := crd.Spec.Versions; len(versions) != 1 || !versions[0].Served || !versions[0].Storage {
			t.Errorf("%s has %d versions: is the way between them tested in an overlap?", file, len(versions))
		}
	}
	references := 0
	walkSchemas(t, func(file string, field fieldSchema) {
		if !strings.HasSuffix(field.path, "Ref") || !strings.Contains(field.path, ".spec") {
			return
		}
		references++
		if _, ok := field.schema.Properties["namespace"]; ok {
			t.Errorf("%s: %s may name another namespace", file, field.path)
		}
	})
	if references < 4 {
		t.Errorf("only %d references were found", references)
	}
}
