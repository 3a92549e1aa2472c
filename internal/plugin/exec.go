// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/internal/render"
)

// receiver returns the name of a ready receiver of an endpoint: of several, always the same.
func (c *cluster) receiver(ctx context.Context, endpoint string) (string, error) {
	pods := &corev1.PodList{}
	err := c.List(ctx, pods, client.InNamespace(c.namespace), client.MatchingLabels(render.ReceiverSelector(endpoint)))
	switch {
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("you may not list pods in namespace %s: %w: ask for a Role with get and list of pods and create of "+
			"pods/exec", c.namespace, err)
	case err != nil:
		return "", fmt.Errorf("find a receiver of WebhookEndpoint %s: %w", endpoint, err)
	}
	var ready []string
	for i := range pods.Items {
		pod := &pods.Items[i]
		serves := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if serves && pod.DeletionTimestamp.IsZero() {
			ready = append(ready, pod.Name)
		}
	}
	if len(ready) == 0 {
		return "", fmt.Errorf("WebhookEndpoint %s has no ready receiver in namespace %s (%d are not ready): see kubectl get whe %s -n %s -o wide",
			endpoint, c.namespace, len(pods.Items), endpoint, c.namespace)
	}
	slices.Sort(ready)
	return ready[0], nil
}

// run runs a command of the receiver's in a pod of its own ledger, and writes what it prints. Its complaint is the error.
func (c *cluster) run(ctx context.Context, pod string, command []string, out io.Writer) error {
	core, err := corev1client.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	request := core.RESTClient().Post().Namespace(c.namespace).Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: render.ContainerReceiver, Command: command, Stdout: true, Stderr: true,
		}, scheme.ParameterCodec)
	// Servers before 1.31 know SPDY alone, and so do some proxies.
	socket, err := remotecommand.NewWebSocketExecutor(c.config, http.MethodGet, request.URL().String())
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	spdy, err := remotecommand.NewSPDYExecutor(c.config, http.MethodPost, request.URL())
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	executor, err := remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	var complaint bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: out, Stderr: &complaint})
	ended, exited := errors.AsType[exec.CodeExitError](err)
	switch {
	case err == nil:
		return nil
	case exited && ended.Code == ExitUsage:
		// The receiver's commands have the same exit codes.
		return usagef("%s", said(complaint.String(), pod))
	case exited:
		return errors.New(said(complaint.String(), pod))
	case apierrors.IsForbidden(err) || strings.Contains(err.Error(), "forbidden"):
		return fmt.Errorf("you may not run commands in pods of namespace %s: %w: ask for a Role with create of pods/exec", c.namespace, err)
	default:
		return fmt.Errorf("run in pod %s: %w", pod, err)
	}
}

// said is the last thing that the receiver's command complained of, without its own name.
func said(text, pod string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimPrefix(lines[len(lines)-1], "receiver: ")
	if last == "" {
		return "the command ended in pod " + pod + " and did not say why"
	}
	return last
}
