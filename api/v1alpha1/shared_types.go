// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"time"
)

// Duration is a length of time as Go writes it: decimal numbers with a unit, such as "24h", "90m" or "1h30m".
// Units are ms, s, m and h. It is kept as the text that was written, so that no controller ever rewrites it.
//
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
type Duration string

// Parse returns the duration, or an error that quotes the text when it is not one. An empty Duration is zero.
func (d Duration) Parse() (time.Duration, error) {
	if d == "" {
		return 0, nil
	}
	parsed, err := time.ParseDuration(string(d))
	if err != nil {
		return 0, fmt.Errorf("duration %q: write it as a number with a unit, such as 24h or 90m: %w", string(d), err)
	}
	return parsed, nil
}

// SecretKeyReference names one key of a Secret in the same namespace. The Secret is read, never written and never owned.
type SecretKeyReference struct {
	// name of the Secret, in the namespace of this object. No default.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key in the Secret's data that holds the value. No default.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// EndpointReference names a WebhookEndpoint in the same namespace.
type EndpointReference struct {
	// name of the WebhookEndpoint, in the namespace of this object. No default.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}
