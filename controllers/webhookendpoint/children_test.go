// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/render"
)

// nameOf is the name of a child of the endpoint.
func nameOf(endpoint string, child client.Object) string {
	names := render.NamesOf(endpoint)
	if fmt.Sprintf("%T", child) == "*v1.CronJob" {
		return names.Prune
	}
	return names.Receiver
}

// versions are the resource versions of an endpoint and of everything that was made for it.
func (b *bench) versions(endpoint string) string {
	b.t.Helper()
	out := "endpoint " + b.endpoint(endpoint).ResourceVersion + "\n"
	for _, child := range children() {
		b.get(child, nameOf(endpoint, child))
		out += fmt.Sprintf("%T %s\n", child, child.GetResourceVersion())
	}
	ring := &corev1.Secret{}
	b.get(ring, render.NamesOf(endpoint).Keyring)
	return out + "keyring " + ring.ResourceVersion
}

func TestEveryChildIsMadeAndOwned(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	endpoint := b.endpoint("payments")
	for _, child := range append(children(), &corev1.Secret{}) {
		name := nameOf("payments", child)
		if _, isSecret := child.(*corev1.Secret); isSecret {
			name = render.NamesOf("payments").Keyring
		}
		b.get(child, name)
		if !metav1.IsControlledBy(child, endpoint) {
			t.Errorf("%T %s is not owned by the endpoint", child, name)
		}
	}
	for _, users := range []string{"database", "signing"} {
		secret := &corev1.Secret{}
		b.get(secret, users)
		if len(secret.OwnerReferences) > 0 || len(secret.Labels) > 0 || len(secret.Annotations) > 0 || len(secret.ManagedFields) != 1 {
			t.Errorf("the user's Secret %s was touched: %+v", users, secret.ObjectMeta)
		}
	}
}

func TestSettledSystemGetsNoWrite(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	b.run("payments", 2)
	b.settle("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAvailable)

	before, writes := b.versions("payments"), b.writes.Load()
	for range 100 {
		b.pass("payments")
	}
	if after := b.versions("payments"); after != before {
		t.Errorf("100 passes changed something:\n%s\nbefore:\n%s", after, before)
	}
	if n := b.writes.Load() - writes; n != 0 {
		t.Errorf("100 passes sent %d writes, want none", n)
	}
}

func TestSecondApplyWritesNothing(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing())
	apply := func() {
		t.Helper()
		endpoint := paymos("payments")
		endpoint.Namespace = b.namespace
		endpoint.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("WebhookEndpoint"))
		if err := b.admin.Patch(t.Context(), endpoint, client.Apply, client.FieldOwner("kubectl")); err != nil { //nolint:staticcheck // as kubectl does
			t.Fatal(err)
		}
		b.shown(endpoint)
	}
	apply()
	b.settle("payments")
	b.run("payments", 2)
	b.settle("payments")
	before, writes := b.versions("payments"), b.writes.Load()
	apply()
	b.pass("payments")
	if after := b.versions("payments"); after != before || b.writes.Load() != writes {
		t.Errorf("a second apply led to %d writes:\n%s\nbefore:\n%s", b.writes.Load()-writes, after, before)
	}
}

func TestChangesOfOthersToOwnedFieldsAreTakenBack(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*appsv1.Deployment)
		// stays says whether the change is to a field that the operator does not own.
		stays func(*appsv1.Deployment) bool
	}{
		"Replicas":    {edit: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32) }},
		"Image":       {edit: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "evil:1" }},
		"Argument":    {edit: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Args[0] = "replay" }},
		"SecurityOff": {edit: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].SecurityContext = nil }},
		"Probe":       {edit: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].LivenessProbe.HTTPGet.Path = "/" }},
		"Label":       {edit: func(d *appsv1.Deployment) { delete(d.Labels, render.LabelEndpoint) }},
		"CacheLabel":  {edit: func(d *appsv1.Deployment) { delete(d.Labels, render.LabelManagedBy) }},
		"Owner":       {edit: func(d *appsv1.Deployment) { d.OwnerReferences[0].BlockOwnerDeletion = new(bool) }},
		"NewVolume": {
			edit: func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Volumes = append(d.Spec.Template.Spec.Volumes, corev1.Volume{Name: "extra"})
			},
			stays: func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.Volumes) == 5 },
		},
		"Annotation": {
			edit:  func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": "shop"} },
			stays: func(d *appsv1.Deployment) bool { return d.Annotations["team"] == "shop" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.create(database(), signing(), paymos("payments"))
			b.settle("payments")
			deployment := &appsv1.Deployment{}
			receiver := render.NamesOf("payments").Receiver
			b.get(deployment, receiver)
			want := deployment.DeepCopy()

			test.edit(deployment)
			if err := b.admin.Update(t.Context(), deployment, client.FieldOwner("kubectl-edit")); err != nil {
				t.Fatal(err)
			}
			edited := deployment.ResourceVersion
			b.eventually("the change is seen", func() string {
				b.pass("payments")
				b.get(deployment, receiver)
				if test.stays == nil && deployment.ResourceVersion == edited {
					return "nothing was applied"
				}
				return ""
			})
			b.settle("payments")
			b.get(deployment, receiver)
			if test.stays != nil {
				if !test.stays(deployment) || deployment.ResourceVersion != edited {
					t.Error("a field that belongs to somebody else was changed")
				}
				return
			}
			if diff := differences(want, deployment); diff != "" {
				t.Errorf("the change was not taken back (-want +got):\n%s", diff)
			}
		})
	}
}

// differences compares what people see of two Deployments.
func differences(want, got *appsv1.Deployment) string {
	return cmp.Diff(want.Labels, got.Labels) + cmp.Diff(want.OwnerReferences, got.OwnerReferences) + cmp.Diff(want.Spec, got.Spec)
}

func TestForeignObjectsAreLeftAlone(t *testing.T) {
	b := newBench(t)
	foreign := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: render.NamesOf("payments").Receiver}, Data: map[string]string{"mine": "yes"},
	}
	b.create(database(), signing(), foreign, paymos("payments"))
	b.settle("payments")
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonResourceConflict, "ConfigMap payments-receiver")
	expect(t, endpoint, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonResourceConflict)
	now := &corev1.ConfigMap{}
	b.get(now, foreign.Name)
	if now.ResourceVersion != foreign.ResourceVersion {
		t.Error("a ConfigMap that belongs to somebody else was changed")
	}

	if err := b.admin.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	b.settle("payments")
	absent(t, b.endpoint("payments"), v1alpha1.ConditionStalled)
}

func TestSuspendedEndpointIsLeftAsItIs(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.update(endpoint, "payments", func() {
		endpoint.Spec.Suspend = true
		replicas := int32(5)
		endpoint.Spec.Receiver.Replicas = &replicas
	})
	deployment := &appsv1.Deployment{}
	b.get(deployment, render.NamesOf("payments").Receiver)
	before := deployment.ResourceVersion
	b.settle("payments")
	b.get(deployment, deployment.Name)
	if deployment.ResourceVersion != before {
		t.Error("a suspended endpoint was acted on")
	}
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonSuspended)

	b.update(endpoint, "payments", func() { endpoint.Spec.Suspend = false })
	b.settle("payments")
	b.get(deployment, deployment.Name)
	if *deployment.Spec.Replicas != 5 {
		t.Errorf("after the suspension there are %d replicas, want 5", *deployment.Spec.Replicas)
	}
}
