// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// CacheOptions returns what the operator keeps in memory: the project's kinds, and of other kinds only what it made. A read
// of a kind that nobody watches is an error, instead of a watch that nobody asked for. No namespaces means all.
func CacheOptions(namespaces []string) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{render.LabelManagedBy: render.ManagedBy})}
	pods := ours
	pods.Transform = slimPod
	options := cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            slim,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:                   pods,
			&corev1.ConfigMap{}:             ours,
			&corev1.Service{}:               ours,
			&appsv1.Deployment{}:            ours,
			&batchv1.CronJob{}:              ours,
			&batchv1.Job{}:                  ours,
			&networkingv1.NetworkPolicy{}:   ours,
			&policyv1.PodDisruptionBudget{}: ours,
		},
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = make(map[string]cache.Config, len(namespaces))
		for _, namespace := range namespaces {
			options.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return options
}

// slim drops what nobody reads. The operator's own managed fields stay: by them it knows that nothing has to be applied.
func slim(object any) (any, error) {
	meta, ok := object.(metav1.Object)
	if !ok {
		return object, nil
	}
	meta.SetManagedFields(slices.DeleteFunc(meta.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager != string(reconcile.FieldOwner) && entry.Manager != string(reconcile.StatsFieldOwner)
	}))
	annotations := meta.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	meta.SetAnnotations(annotations)
	return object, nil
}

// slimPod keeps of a pod where its receiver is and how it is.
func slimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ManagedFields, pod.Annotations = nil, nil
	pod.Spec = corev1.PodSpec{Containers: slimContainers(pod.Spec.Containers)}
	return pod, nil
}

func slimContainers(containers []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(containers))
	for i := range containers {
		out[i] = corev1.Container{Name: containers[i].Name, Ports: containers[i].Ports}
	}
	return out
}
