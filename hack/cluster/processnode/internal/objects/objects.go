// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package objects names and reads the Secrets and ConfigMaps that pods refer to.
package objects

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/typed/core/v1"
)

// Kind is Secret or ConfigMap.
type Kind string

// The kinds that volumes project.
const (
	Secret    Kind = "Secret"
	ConfigMap Kind = "ConfigMap"
)

// Key names one object.
type Key struct {
	Kind      Kind
	Namespace string
	Name      string
}

func (k Key) String() string { return fmt.Sprintf("%s %s/%s", k.Kind, k.Namespace, k.Name) }

// Content is an object as a volume projects it.
type Content struct {
	Version string // the object's resourceVersion
	Data    map[string][]byte
}

// FromSecret takes the content of a Secret.
func FromSecret(secret *corev1.Secret) Content {
	return Content{Version: secret.ResourceVersion, Data: secret.Data}
}

// FromConfigMap takes the content of a ConfigMap, text and binary.
func FromConfigMap(configMap *corev1.ConfigMap) Content {
	data := make(map[string][]byte, len(configMap.Data)+len(configMap.BinaryData))
	for key, text := range configMap.Data {
		data[key] = []byte(text)
	}
	maps.Copy(data, configMap.BinaryData)
	return Content{Version: configMap.ResourceVersion, Data: data}
}

// Reader reads objects from the API server itself, never from a cache: a pod that starts right
// after its Secret changed must see the change.
type Reader struct {
	Client v1.CoreV1Interface
}

// Secret reads a Secret.
func (r Reader) Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	return r.Client.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}

// ConfigMap reads a ConfigMap.
func (r Reader) ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	return r.Client.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
}

// Content reads the object of the key.
func (r Reader) Content(ctx context.Context, key Key) (Content, error) {
	if key.Kind == Secret {
		secret, err := r.Secret(ctx, key.Namespace, key.Name)
		if err != nil {
			return Content{}, err
		}
		return FromSecret(secret), nil
	}
	configMap, err := r.ConfigMap(ctx, key.Namespace, key.Name)
	if err != nil {
		return Content{}, err
	}
	return FromConfigMap(configMap), nil
}
