// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The intent, what the API server keeps of it, and its bookkeeping of who set what.
const (
	intentText = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: payments
  namespace: shop
  labels: {a: "1"}
spec:
  replicas: 2
  selector: {matchLabels: {a: "1"}}
  template:
    spec:
      containers:
      - name: receiver
        image: hookonce:1
        args: [serve, --x]
        ports: [{containerPort: 8080, protocol: TCP, name: public}]
`
	liveText = `
metadata:
  name: payments
  namespace: shop
  uid: 1234
  labels: {a: "1", team: shop}
  annotations: {note: theirs}
spec:
  replicas: 2
  progressDeadlineSeconds: 600
  selector: {matchLabels: {a: "1"}}
  template:
    spec:
      restartPolicy: Always
      containers:
      - {name: sidecar, image: "proxy:1"}
      - name: receiver
        image: hookonce:1
        args: [serve, --x]
        terminationMessagePath: /dev/termination-log
        ports: [{containerPort: 8080, protocol: TCP, name: public}]
`
	ownedText = `{
"f:metadata": {"f:labels": {"f:a": {}}},
"f:spec": {
  "f:replicas": {}, "f:selector": {},
  "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"receiver\"}": {
    ".": {}, "f:name": {}, "f:image": {}, "f:args": {},
    "f:ports": {"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:protocol": {}, "f:name": {}}}
  }}}}}}`
)

func TestDrift(t *testing.T) {
	for name, test := range map[string]struct {
		edit  func(*appsv1.Deployment)
		owned string
		want  []string
	}{
		"Settled":          {func(*appsv1.Deployment) {}, ownedText, nil},
		"Replicas":         {func(d *appsv1.Deployment) { *d.Spec.Replicas = 3 }, ownedText, []string{".spec.replicas"}},
		"LabelRemoved":     {func(d *appsv1.Deployment) { delete(d.Labels, "a") }, ownedText, []string{".metadata.labels.a"}},
		"OthersLabel":      {func(d *appsv1.Deployment) { d.Labels["b"] = "2" }, ownedText, nil},
		"OthersContainer":  {func(d *appsv1.Deployment) { container(d, 0).Image = "proxy:2" }, ownedText, nil},
		"Image":            {func(d *appsv1.Deployment) { container(d, 1).Image = "evil:1" }, ownedText, []string{`.spec.template.spec.containers[{"name":"receiver"}].image`}},
		"Argument":         {func(d *appsv1.Deployment) { container(d, 1).Args = []string{"serve"} }, ownedText, []string{`.spec.template.spec.containers[{"name":"receiver"}].args`}},
		"ContainerGone":    {func(d *appsv1.Deployment) { container(d, 1).Name = "other" }, ownedText, []string{`.spec.template.spec.containers[{"name":"receiver"}]`}},
		"Port":             {func(d *appsv1.Deployment) { container(d, 1).Ports[0].Name = "x" }, ownedText, []string{`.spec.template.spec.containers[{"name":"receiver"}].ports[{"containerPort":8080,"protocol":"TCP"}].name`}},
		"NothingOwned":     {func(*appsv1.Deployment) {}, `{}`, []string{".metadata", ".spec"}},
		"TakenOver":        {func(*appsv1.Deployment) {}, `{"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:selector": {}, "f:replicas": {}}}`, []string{".spec.template"}},
		"LeftFromBefore":   {func(*appsv1.Deployment) {}, `{"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:paused": {}, "f:replicas": {}, "f:selector": {}}}`, []string{".spec.paused", ".spec.template"}},
		"ShapeOfTheIntent": {func(*appsv1.Deployment) {}, `{"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:replicas": {"f:x": {}}, "f:selector": {}}}`, []string{".spec.replicas", ".spec.template"}},
	} {
		t.Run(name, func(t *testing.T) {
			desired, live := map[string]any{}, &appsv1.Deployment{}
			if err := yaml.Unmarshal([]byte(intentText), &desired); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(liveText), live); err != nil {
				t.Fatal(err)
			}
			live.ManagedFields = managed(t, test.owned)
			test.edit(live)
			got, err := drift(desired, live, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("drift (-want +got):\n%s", diff)
			}
		})
	}
}

func container(d *appsv1.Deployment, i int) *corev1.Container {
	return &d.Spec.Template.Spec.Containers[i]
}

// managed returns the bookkeeping of the operator, of its counts, and of somebody else.
func managed(t *testing.T, owned string) []metav1.ManagedFieldsEntry {
	t.Helper()
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, Subresource: subresource,
			FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	if !json.Valid([]byte(owned)) {
		t.Fatal("the fields are no JSON")
	}
	return []metav1.ManagedFieldsEntry{
		entry("kubectl", "", `{"f:metadata": {"f:labels": {"f:team": {}}}}`),
		entry(string(FieldOwner), "status", `{"f:status": {"f:replicas": {}}}`),
		entry(string(FieldOwner), "", owned),
	}
}

func TestDriftOfASet(t *testing.T) {
	live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"b", "a"}}}
	fields := `{"f:metadata": {"f:finalizers": {".": {}, "v:\"a\"": {}}}}`
	live.ManagedFields = managed(t, fields)
	for _, test := range []struct {
		finalizers []any
		want       int
	}{{[]any{"a"}, 0}, {[]any{"c"}, 1}, {[]any{"a", "b"}, 1}} {
		desired := map[string]any{"metadata": map[string]any{"name": "x", "finalizers": test.finalizers}}
		got, err := drift(desired, live, "")
		if err != nil || len(got) != test.want {
			t.Errorf("%v: drift %v and error %v, want %d", test.finalizers, got, err, test.want)
		}
	}
}

func TestDriftOfAStatusLooksAtNothingElse(t *testing.T) {
	live := &appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 2}}
	live.ManagedFields = managed(t, ownedText)
	desired := func(replicas float64) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "x"}, "status": map[string]any{"replicas": replicas}}
	}
	if got, err := drift(desired(2), live, "status"); err != nil || len(got) != 0 {
		t.Errorf("drift %v and error %v, want none", got, err)
	}
	if got, err := drift(desired(3), live, "status"); err != nil || len(got) != 1 {
		t.Errorf("drift %v and error %v, want one", got, err)
	}
}
