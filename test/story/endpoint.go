// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

const (
	// publicPort is the port on which receivers serve providers, privatePort the one for the operator and people.
	publicPort, privatePort = 8080, 8081
	// metricsPort is the operator's.
	metricsPort = 8080
)

// Endpoint returns a WebhookEndpoint of the shop.
func (w *World) Endpoint(ctx context.Context, name string) (*v1alpha1.WebhookEndpoint, error) {
	endpoint := &v1alpha1.WebhookEndpoint{}
	return endpoint, w.get(ctx, endpoint, "webhookendpoint", name, "-n", Namespace)
}

// Rotation reads a SecretRotation.
func (w *World) Rotation(ctx context.Context, name string) (*v1alpha1.SecretRotation, error) {
	rotation := &v1alpha1.SecretRotation{}
	return rotation, w.get(ctx, rotation, "secretrotation", name, "-n", Namespace)
}

// RotationOf returns the latest SecretRotation of an endpoint.
func (w *World) RotationOf(ctx context.Context, endpoint string) (*v1alpha1.SecretRotation, error) {
	rotations := &v1alpha1.SecretRotationList{}
	if err := w.get(ctx, rotations, "secretrotations", "-n", Namespace, "--sort-by=.metadata.creationTimestamp"); err != nil {
		return nil, err
	}
	for i := len(rotations.Items) - 1; i >= 0; i-- {
		if rotations.Items[i].Spec.EndpointRef.Name == endpoint {
			return &rotations.Items[i], nil
		}
	}
	return nil, fmt.Errorf("there is no SecretRotation of %s", endpoint)
}

// WaitEndpoint waits until check is true of a WebhookEndpoint.
func (w *World) WaitEndpoint(
	ctx context.Context, name string, limit time.Duration, check func(*v1alpha1.WebhookEndpoint) error,
) error {
	return Eventually(ctx, limit, time.Second, func(ctx context.Context) error {
		endpoint, err := w.Endpoint(ctx, name)
		if err != nil {
			return err
		}
		return check(endpoint)
	})
}

// Condition returns an error unless the condition has the status, and the reason if one is given.
func Condition(conditions []metav1.Condition, kind string, status metav1.ConditionStatus, reason string) error {
	condition := meta.FindStatusCondition(conditions, kind)
	if condition == nil {
		return fmt.Errorf("there is no condition %s", kind)
	}
	if condition.Status != status || (reason != "" && condition.Reason != reason) {
		return fmt.Errorf("condition %s is %s (%s: %s)", kind, condition.Status, condition.Reason, condition.Message)
	}
	return nil
}

// Ready says whether the endpoint has the receivers that it should have.
func Ready(endpoint *v1alpha1.WebhookEndpoint) error {
	if endpoint.Status.ObservedGeneration != endpoint.Generation {
		return fmt.Errorf("generation %d has not been observed", endpoint.Generation)
	}
	return Condition(endpoint.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}

// URL returns where deliveries to an endpoint go: its Service, or one of its pods where no Service can be reached.
func (w *World) URL(ctx context.Context, name string) (string, error) {
	endpoint, err := w.Endpoint(ctx, name)
	if err != nil {
		return "", err
	}
	if w.cluster.node == nodeProcess {
		pods, err := w.receivers(ctx, name)
		if err != nil {
			return "", err
		}
		for _, pod := range pods {
			if podReady(pod) {
				return fmt.Sprintf("http://%s:%d%s", pod.Status.PodIP, publicPort, endpoint.Status.Path), nil
			}
		}
		return "", fmt.Errorf("no receiver of %s is ready", name)
	}
	service := &corev1.Service{}
	if err := w.get(ctx, service, "service", endpoint.Status.ServiceName, "-n", Namespace); err != nil {
		return "", err
	}
	return fmt.Sprintf("http://%s:%d%s", service.Spec.ClusterIP, service.Spec.Ports[0].Port, endpoint.Status.Path), nil
}

// ReceiverURLs returns an endpoint's address on each receiver's own pod.
func (w *World) ReceiverURLs(ctx context.Context, name string) ([]string, error) {
	endpoint, err := w.Endpoint(ctx, name)
	if err != nil {
		return nil, err
	}
	pods, err := w.receivers(ctx, name)
	if err != nil {
		return nil, err
	}
	var urls []string
	for _, pod := range pods {
		if !podReady(pod) {
			return nil, fmt.Errorf("receiver %s is not ready", pod.Name)
		}
		urls = append(urls, fmt.Sprintf("http://%s:%d%s", pod.Status.PodIP, publicPort, endpoint.Status.Path))
	}
	return urls, nil
}

// receivers returns the receiver pods of an endpoint.
func (w *World) receivers(ctx context.Context, name string) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	selector := "app.kubernetes.io/name=hookonce-receiver,webhooks.hookonce.dev/endpoint=" + name
	if err := w.get(ctx, pods, "pods", "-n", Namespace, "-l", selector); err != nil {
		return nil, err
	}
	return pods.Items, nil
}

func podReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

// publicArgument is the argument by which the process of a receiver pod can be told from every other.
func publicArgument(pod corev1.Pod) string {
	return fmt.Sprintf("--public-address=%s:%d", pod.Status.PodIP, publicPort)
}

// CurrentSecret returns the text of the secret that is live for an endpoint.
func (w *World) CurrentSecret(ctx context.Context, name string) (string, error) {
	secret := &corev1.Secret{}
	if err := w.get(ctx, secret, "secret", name+"-keyring", "-n", Namespace); err != nil {
		return "", err
	}
	document, found := secret.Data[keyring.FileName]
	if !found {
		return "", errors.New("the keyring Secret has no key " + keyring.FileName)
	}
	ring, err := keyring.Parse(document)
	if err != nil {
		return "", fmt.Errorf("read the keyring of %s: %w", name, err)
	}
	return string(ring.Current.Secret), nil
}

// ConditionMentions returns an error unless the condition is False for the reason and its message has every text in it.
func ConditionMentions(conditions []metav1.Condition, kind, reason string, texts ...string) error {
	if err := Condition(conditions, kind, metav1.ConditionFalse, reason); err != nil {
		return err
	}
	message := meta.FindStatusCondition(conditions, kind).Message
	for _, text := range texts {
		if !strings.Contains(message, text) {
			return fmt.Errorf("the message of %s does not mention %s: %s", kind, text, message)
		}
	}
	return nil
}

// ReceiverStatus returns what a ready receiver of an endpoint serves at /status, read through the API server.
func (w *World) ReceiverStatus(ctx context.Context, name string) (receiverstatus.Status, error) {
	var status receiverstatus.Status
	pods, err := w.receivers(ctx, name)
	if err != nil {
		return status, err
	}
	for _, pod := range pods {
		if !podReady(pod) {
			continue
		}
		out, err := w.fetch(ctx, pod, privatePort, receiverstatus.Path)
		if err != nil {
			return status, err
		}
		if err := json.Unmarshal([]byte(out), &status); err != nil {
			return status, fmt.Errorf("read the status of %s: %w", pod.Name, err)
		}
		return status, nil
	}
	return status, fmt.Errorf("no receiver of %s is ready", name)
}

// Reconciles returns how often the operator has reconciled endpoints since it started.
func (w *World) Reconciles(ctx context.Context) (int, error) {
	pods := &corev1.PodList{}
	if err := w.get(ctx, pods, "pods", "-n", OperatorNamespace, "-l", "app.kubernetes.io/name=hookonce-operator"); err != nil {
		return 0, err
	}
	if len(pods.Items) != 1 {
		return 0, fmt.Errorf("%d operators run instead of one", len(pods.Items))
	}
	metrics, err := w.fetch(ctx, pods.Items[0], metricsPort, "/metrics")
	if err != nil {
		return 0, err
	}
	total := 0
	for line := range strings.Lines(metrics) {
		if !strings.HasPrefix(line, `controller_runtime_reconcile_total{controller="webhookendpoint"`) {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 64)
		if err != nil {
			return 0, fmt.Errorf("read the operator's metrics: %w", err)
		}
		total += int(n)
	}
	return total, nil
}

// fetch reads a page of a pod: through the API server, which passes nothing on to the loopback addresses of a process node.
func (w *World) fetch(ctx context.Context, pod corev1.Pod, port int, path string) (string, error) {
	if w.cluster.node != nodeProcess {
		return w.Kubectl(ctx, "get", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy%s", pod.Namespace, pod.Name, port, path))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:%d%s", pod.Status.PodIP, port, path), nil)
	if err != nil {
		return "", fmt.Errorf("read %s of %s: %w", path, pod.Name, err)
	}
	response, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return "", fmt.Errorf("read %s of %s: %w", path, pod.Name, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("read %s of %s: %w", path, pod.Name, err)
	}
	return string(body), nil
}
