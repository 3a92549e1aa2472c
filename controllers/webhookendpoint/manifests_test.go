// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/scheme"
)

// TestPodsAreRestricted sends the pods that Deployment and CronJob would make to a namespace that enforces the restricted
// Pod Security Standard.
func TestPodsAreRestricted(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing(), paymos("payments"))
	b.settle("payments")
	deployment, cronJob := &appsv1.Deployment{}, &batchv1.CronJob{}
	b.get(deployment, render.NamesOf("payments").Receiver)
	b.get(cronJob, render.NamesOf("payments").Prune)

	strict := controlplane.Namespace(t, b.admin, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: strict}}
	if err := b.admin.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	admit := func(spec corev1.PodSpec) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: strict}, Spec: spec}
		return b.admin.Create(t.Context(), pod, client.DryRunAll)
	}
	for name, spec := range map[string]corev1.PodSpec{
		"Receiver": deployment.Spec.Template.Spec,
		"Prune":    cronJob.Spec.JobTemplate.Spec.Template.Spec,
	} {
		t.Run(name, func(t *testing.T) {
			if err := admit(spec); err != nil {
				t.Error(err)
			}
			if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
				t.Error("the pod has a token for the API server")
			}
			for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
				context := container.SecurityContext
				if context == nil || context.ReadOnlyRootFilesystem == nil || !*context.ReadOnlyRootFilesystem {
					t.Errorf("container %s can write to its root", container.Name)
				}
			}
			loose := spec.DeepCopy()
			loose.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true)
			if err := admit(*loose); !apierrors.IsForbidden(err) {
				t.Errorf("the namespace does not enforce the standard: %v", err)
			}
		})
	}
}

// TestLongNames reconciles endpoints whose names are too long, or of the wrong form, for their children.
func TestLongNames(t *testing.T) {
	b := newBench(t)
	b.create(database(), signing())
	stem := bytes.Repeat([]byte("a"), 253)
	for _, name := range []string{
		string(stem[:53]), string(stem[:63]), string(stem[:100]), string(stem), string(stem[:251]) + ".b", "2026.payments.v1",
	} {
		b.create(paymos(name))
		b.settle(name)
		endpoint := b.endpoint(name)
		expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing)
		for _, child := range children() {
			b.get(child, nameOf(name, child))
			if !metav1.IsControlledBy(child, endpoint) {
				t.Errorf("%T of %s belongs to another endpoint", child, name)
			}
		}
	}
}

// TestSamplesApply sends config/samples to the API server, and reconciles every endpoint in it: one for each preset, and one
// that is described field by field.
func TestSamplesApply(t *testing.T) {
	b := newBench(t)
	wanting := map[string]bool{scheme.HMAC: true}
	for _, name := range scheme.Names() {
		wanting[name] = true
	}
	for _, name := range b.applySamples() {
		b.settle(name)
		t.Run(name, func(t *testing.T) {
			endpoint := b.endpoint(name)
			delete(wanting, string(endpoint.Spec.Verification.Scheme))
			absent(t, endpoint, v1alpha1.ConditionStalled)
			expect(t, endpoint, v1alpha1.ConditionSecretsResolved, metav1.ConditionTrue, v1alpha1.ReasonResolved)
			rendered := &corev1.ConfigMap{}
			b.get(rendered, render.NamesOf(name).Receiver)
			config, err := receiverconfig.Parse([]byte(rendered.Data[receiverconfig.FileName]))
			if err != nil {
				t.Fatal(err)
			}
			if err := scheme.Validate(config.Scheme); err != nil {
				t.Error(err)
			}
			if config.PublicURL != endpoint.Status.URL || (config.PublicURL == "" && config.Scheme.Signs(scheme.PlaceholderURL)) {
				t.Errorf("the status has the URL %q, and the configuration %q", endpoint.Status.URL, config.PublicURL)
			}
		})
	}
	for name := range wanting {
		t.Errorf("there is no sample of scheme %s", name)
	}
}

// applySamples makes everything that the samples hold, and returns the names of the endpoints.
func (b *bench) applySamples() []string {
	b.t.Helper()
	var files, endpoints []string
	for _, pattern := range []string{"*.yaml", filepath.Join("schemes", "*.yaml")} {
		found, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", pattern))
		if err != nil || len(found) == 0 {
			b.t.Fatalf("no samples: %v", err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		for _, object := range documents(b.t, file) {
			switch object.GetKind() {
			case "Kustomization", "Namespace":
				continue
			case "WebhookEndpoint":
				endpoints = append(endpoints, object.GetName())
			}
			object.SetNamespace(b.namespace)
			if err := b.admin.Create(b.t.Context(), object, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
				b.t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, name := range endpoints {
		b.eventually("the cache shows "+name, func() string {
			if err := b.cached.Get(b.t.Context(), b.key(name), &v1alpha1.WebhookEndpoint{}); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	return endpoints
}

// documents are the objects in a file of manifests.
func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var out []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(object.Object) > 0 {
			out = append(out, object)
		}
	}
}
