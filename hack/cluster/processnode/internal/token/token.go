// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package token gives pods the tokens of their service accounts, and a kubeconfig that uses them.
package token

import (
	"context"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/typed/core/v1"
)

// accountSeconds is the life of the token behind the kubeconfig, as for the token that the API
// server mounts into ordinary pods.
const accountSeconds int64 = 3607

// Issuer asks the API server for tokens.
type Issuer struct {
	Client v1.CoreV1Interface
	Now    func() time.Time
}

// Wanted reports whether the pod gets a token: it has a service account, and neither the pod nor
// (when the pod is silent) the account says automountServiceAccountToken: false.
func (i Issuer) Wanted(ctx context.Context, pod *corev1.Pod) (bool, error) {
	name := pod.Spec.ServiceAccountName
	if name == "" {
		return false, nil
	}
	if pod.Spec.AutomountServiceAccountToken != nil {
		return *pod.Spec.AutomountServiceAccountToken, nil
	}
	account, err := i.Client.ServiceAccounts(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read ServiceAccount %s: %w", name, err)
	}
	return account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken, nil
}

// For makes the holder of a pod's tokens.
func (i Issuer) For(pod *corev1.Pod) *Holder {
	return &Holder{issuer: i, pod: pod, tokens: make(map[request]issued)}
}

type request struct {
	audience string
	seconds  int64
}

type issued struct {
	token   string
	renewAt time.Time
}

// Holder keeps the tokens of one pod, and renews each when four fifths of its life are over. All
// are bound to the pod: they end with it.
type Holder struct {
	issuer Issuer
	pod    *corev1.Pod

	mu     sync.Mutex
	tokens map[request]issued
}

// Token is a token for the audience (empty: the API server itself) that is good for a while yet.
func (h *Holder) Token(ctx context.Context, audience string, seconds int64) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wanted := request{audience: audience, seconds: seconds}
	if known, ok := h.tokens[wanted]; ok && h.issuer.Now().Before(known.renewAt) {
		return known.token, nil
	}
	spec := authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds,
		BoundObjectRef: &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Pod", Name: h.pod.Name, UID: h.pod.UID,
		},
	}
	if audience != "" {
		spec.Audiences = []string{audience}
	}
	account := h.pod.Spec.ServiceAccountName
	now := h.issuer.Now()
	answer, err := h.issuer.Client.ServiceAccounts(h.pod.Namespace).CreateToken(
		ctx, account, &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token of ServiceAccount %s: %w", account, err)
	}
	life := answer.Status.ExpirationTimestamp.Sub(now)
	h.tokens[wanted] = issued{token: answer.Status.Token, renewAt: now.Add(life * 4 / 5)}
	return answer.Status.Token, nil
}

// RenewAt is when the first of the tokens must be renewed; zero if there is none.
func (h *Holder) RenewAt() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	var first time.Time
	for _, token := range h.tokens {
		if first.IsZero() || token.renewAt.Before(first) {
			first = token.renewAt
		}
	}
	return first
}
