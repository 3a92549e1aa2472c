// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
)

// SecretTypeKeyring is the type of the keyring's Secret; it keeps people from taking it for one of theirs.
const SecretTypeKeyring corev1.SecretType = "webhooks.hookonce.dev/keyring"

// Children returns everything that is applied for an endpoint, in an order in which each finds what it needs: the
// configuration document before the pods that mount it. The keyring's Secret is made before, and by itself.
func Children(endpoint *v1alpha1.WebhookEndpoint, document []byte, settings Settings) []runtime.ApplyConfiguration {
	return []runtime.ApplyConfiguration{
		ConfigMap(endpoint, document),
		NetworkPolicy(endpoint, settings),
		Service(endpoint),
		PodDisruptionBudget(endpoint),
		Deployment(endpoint, settings),
		CronJob(endpoint, settings),
	}
}

// KeyringSecret returns the Secret that holds an endpoint's keyring, without its owner. It is created once, and from then
// on only rotations write it.
func KeyringSecret(endpoint *v1alpha1.WebhookEndpoint, document []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:      NamesOf(endpoint.Name).Keyring,
			Namespace: endpoint.Namespace,
			Labels:    Labels(endpoint.Name, NameReceiver),
		},
		Type: SecretTypeKeyring,
		Data: map[string][]byte{keyring.FileName: document},
	}
}
