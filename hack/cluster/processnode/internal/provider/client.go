// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Client is the client that the library's pod controller gets. The controller writes whole
// pods, as it last saw them, and deletes the API object when it believes that the pod has had its
// time; this client writes only our status, and deletes only what has no processes left.
func (p *Provider) Client() typedcorev1.PodsGetter { return podsGetter{p} }

type podsGetter struct{ provider *Provider }

func (g podsGetter) Pods(namespace string) typedcorev1.PodInterface {
	return podClient{PodInterface: g.provider.client.Pods(namespace), provider: g.provider, namespace: namespace}
}

type podClient struct {
	typedcorev1.PodInterface
	provider  *Provider
	namespace string
}

// UpdateStatus writes the newest status that the provider has for the pod.
func (c podClient) UpdateStatus(ctx context.Context, pod *corev1.Pod, options metav1.UpdateOptions) (*corev1.Pod, error) {
	e := c.provider.find(pod.UID)
	if e == nil {
		return c.PodInterface.UpdateStatus(ctx, pod, options)
	}
	written, err := c.provider.writeStatus(ctx, c.namespace, pod.Name, pod.UID, e.Status())
	if written == nil {
		written = pod
	}
	return written, err
}

// Delete deletes the API object at once only if the pod has ended; otherwise the provider does
// it when that is so.
func (c podClient) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	if options.Preconditions == nil || options.Preconditions.UID == nil {
		return c.PodInterface.Delete(ctx, name, options)
	}
	e := c.provider.find(*options.Preconditions.UID)
	if e == nil || ended(e) {
		return c.PodInterface.Delete(ctx, name, options)
	}
	deleted := e.Pod()
	if current, err := c.provider.lister.Pods(c.namespace).Get(name); err == nil && current.UID == e.UID() {
		deleted = current
	}
	c.provider.stopForDeletion(e, deleted)
	return nil
}
