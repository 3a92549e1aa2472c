// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package environ

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/downward"
)

type fixedObjects struct {
	secrets    map[string]*corev1.Secret
	configMaps map[string]*corev1.ConfigMap
}

func (o fixedObjects) Secret(_ context.Context, _, name string) (*corev1.Secret, error) {
	if secret, ok := o.secrets[name]; ok {
		return secret, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("secrets"), name)
}

func (o fixedObjects) ConfigMap(_ context.Context, _, name string) (*corev1.ConfigMap, error) {
	if configMap, ok := o.configMaps[name]; ok {
		return configMap, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("configmaps"), name)
}

var testFacts = downward.Facts{
	Pod: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "receiver-1", Namespace: "shop", UID: "u-1",
			Labels: map[string]string{"b": "2", "a": "1"}, Annotations: map[string]string{"example.com/x": "y"},
		},
		Spec: corev1.PodSpec{
			NodeName: "node", ServiceAccountName: "sa",
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi"), corev1.ResourceCPU: resource.MustParse("150m")},
			}}},
		},
	},
	PodIP: "127.77.0.2", HostIP: "127.0.0.1",
	Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
}

var testObjects = fixedObjects{
	secrets:    map[string]*corev1.Secret{"db": {Data: map[string][]byte{"uri": []byte("postgres://x"), "BAD-=": []byte("skipped")}}},
	configMaps: map[string]*corev1.ConfigMap{"settings": {Data: map[string]string{"MODE": "fast", "LEVEL": "1"}}},
}

func field(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func secretKey(name, key string, optional bool) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: &optional,
	}}
}

func limit(name string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: name}}
}

func TestDefine(t *testing.T) {
	container := &corev1.Container{
		Name: "main",
		EnvFrom: []corev1.EnvFromSource{
			{Prefix: "S_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}, Optional: new(true)}},
		},
		Env: []corev1.EnvVar{
			{Name: "POD_IP", ValueFrom: field("status.podIP")},
			{Name: "HOST_IP", ValueFrom: field("status.hostIP")},
			{Name: "WHO", ValueFrom: field("metadata.name")},
			{Name: "WHERE", ValueFrom: field("metadata.namespace")},
			{Name: "UID", ValueFrom: field("metadata.uid")},
			{Name: "NODE", ValueFrom: field("spec.nodeName")},
			{Name: "ACCOUNT", ValueFrom: field("spec.serviceAccountName")},
			{Name: "LABEL", ValueFrom: field("metadata.labels['a']")},
			{Name: "NOTE", ValueFrom: field("metadata.annotations['example.com/x']")},
			{Name: "URI", ValueFrom: secretKey("db", "uri", false)},
			{Name: "NONE", ValueFrom: secretKey("db", "other", true)},
			{Name: "MEMORY", ValueFrom: limit("limits.memory")},
			{Name: "CPUS", ValueFrom: limit("limits.cpu")},
			{Name: "ADDRESS", Value: "$(POD_IP):8080 $(LATER) $$(POD_IP)"},
			{Name: "LATER", Value: "x"},
			{Name: "S_MODE", Value: "slow"},
		},
	}
	var vars Variables
	if err := Define(t.Context(), &vars, container, testFacts, testObjects); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"S_LEVEL=1", "S_MODE=slow", "POD_IP=127.77.0.2", "HOST_IP=127.0.0.1", "WHO=receiver-1", "WHERE=shop", "UID=u-1",
		"NODE=node", "ACCOUNT=sa", "LABEL=1", "NOTE=y", "URI=postgres://x", "MEMORY=67108864", "CPUS=1",
		"ADDRESS=127.77.0.2:8080 $(LATER) $(POD_IP)", "LATER=x",
	}
	got := vars.Strings(func(value string) string { return value })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestDefineErrors(t *testing.T) {
	tests := map[string]struct {
		source *corev1.EnvVarSource
		want   string
	}{
		"absent Secret":     {secretKey("absent", "k", false), `variable X: secrets "absent" not found`},
		"absent key":        {secretKey("db", "k", false), `no key "k" in Secret db`},
		"unsupported field": {field("status.phase"), `the field "status.phase" is not supported`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var vars Variables
			container := &corev1.Container{Name: "main", Env: []corev1.EnvVar{{Name: "X", ValueFrom: test.source}}}
			err := Define(t.Context(), &vars, container, testFacts, testObjects)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q in it", err, test.want)
			}
		})
	}
}
