// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package downward answers what a pod asks about itself: fields and resources of the downward API.
package downward

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Facts is what the node knows about a pod.
type Facts struct {
	Pod         *corev1.Pod
	PodIP       string
	HostIP      string
	Allocatable corev1.ResourceList // stands for a limit that the container does not set
}

// Field is the value of a fieldRef. The error names a path that is not supported.
func (f Facts) Field(path string) (string, error) {
	if key, found := subscript(path, "metadata.labels"); found {
		return f.Pod.Labels[key], nil
	}
	if key, found := subscript(path, "metadata.annotations"); found {
		return f.Pod.Annotations[key], nil
	}
	switch path {
	case "metadata.name":
		return f.Pod.Name, nil
	case "metadata.namespace":
		return f.Pod.Namespace, nil
	case "metadata.uid":
		return string(f.Pod.UID), nil
	case "metadata.labels":
		return formatMap(f.Pod.Labels), nil
	case "metadata.annotations":
		return formatMap(f.Pod.Annotations), nil
	case "spec.nodeName":
		return f.Pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return f.Pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return f.PodIP, nil
	case "status.hostIP", "status.hostIPs":
		return f.HostIP, nil
	default:
		return "", fmt.Errorf("the field %q is not supported", path)
	}
}

// subscript takes the key out of a path such as metadata.labels['key'].
func subscript(path, field string) (string, bool) {
	key, found := strings.CutPrefix(path, field+"['")
	if !found {
		return "", false
	}
	return strings.CutSuffix(key, "']")
}

func formatMap(values map[string]string) string {
	lines := make([]string, 0, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, key+"="+strconv.Quote(values[key]))
	}
	return strings.Join(lines, "\n")
}

// Resource is the value of a resourceFieldRef, rounded up to a whole number of divisors. The
// reference's container name wins over the container given.
func (f Facts) Resource(ref *corev1.ResourceFieldSelector, container string) (string, error) {
	if ref.ContainerName != "" {
		container = ref.ContainerName
	}
	requirements, err := f.requirements(container)
	if err != nil {
		return "", err
	}
	kind, name, _ := strings.Cut(ref.Resource, ".")
	resourceName := corev1.ResourceName(name)
	var quantity resource.Quantity
	switch kind {
	case "limits":
		limit, set := requirements.Limits[resourceName]
		if !set {
			limit = f.Allocatable[resourceName]
		}
		quantity = limit
	case "requests":
		quantity = requirements.Requests[resourceName]
	default:
		return "", fmt.Errorf("the resource %q is not supported", ref.Resource)
	}
	divisor := ref.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if resourceName == corev1.ResourceCPU {
		return ceilDivide(quantity.MilliValue(), divisor.MilliValue()), nil
	}
	return ceilDivide(quantity.Value(), divisor.Value()), nil
}

func (f Facts) requirements(name string) (corev1.ResourceRequirements, error) {
	for _, containers := range [][]corev1.Container{f.Pod.Spec.Containers, f.Pod.Spec.InitContainers} {
		for i := range containers {
			if containers[i].Name == name {
				return containers[i].Resources, nil
			}
		}
	}
	return corev1.ResourceRequirements{}, fmt.Errorf("no container %q in the pod", name)
}

func ceilDivide(value, divisor int64) string {
	return strconv.FormatInt(int64(math.Ceil(float64(value)/float64(divisor))), 10)
}
