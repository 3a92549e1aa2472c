// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the group webhooks.hookonce.dev: WebhookEndpoint, a receiver of one
// provider's webhooks, SecretRotation, the change of a signing secret with an overlap, and DeliveryReplay, the sending of deliveries
// again.
//
// +kubebuilder:object:generate=true
// +groupName=webhooks.hookonce.dev
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="applyconfiguration"
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "webhooks.hookonce.dev", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion under the name that the generated apply configurations use.
var SchemeGroupVersion = GroupVersion

// AddToScheme registers the kinds of this package with a runtime scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&WebhookEndpoint{}, &WebhookEndpointList{},
		&SecretRotation{}, &SecretRotationList{},
		&DeliveryReplay{}, &DeliveryReplayList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
