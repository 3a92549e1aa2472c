// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operatorContainer is the name of the operator's container in its pod.
const operatorContainer = "operator"

// OwnImage returns the image that the operator's pod was made from, as its spec spells it: whoever changes the image in a
// kustomization or a chart need not say it twice.
func OwnImage(ctx context.Context, config *rest.Config, pod types.NamespacedName) (string, error) {
	scheme, err := Scheme()
	if err != nil {
		return "", err
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return "", fmt.Errorf("connect to the API server: %w", err)
	}
	var own corev1.Pod
	if err := reader.Get(ctx, pod, &own); err != nil {
		return "", fmt.Errorf("read the operator's own pod: %w", err)
	}
	for _, container := range own.Spec.Containers {
		if container.Name == operatorContainer {
			return container.Image, nil
		}
	}
	return "", fmt.Errorf("the operator's own pod %s has no container %s: set --receiver-image", pod, operatorContainer)
}
