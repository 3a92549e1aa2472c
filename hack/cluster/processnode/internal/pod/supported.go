// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/volume"
)

// unsupported names the first thing in the pod that this node cannot do. What only restricts a
// process (security contexts, resource limits) is not in the list: it is ignored.
func unsupported(pod *corev1.Pod) error {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.EmptyDir == nil && !volume.Projects(v) {
			return fmt.Errorf("volume %s: only emptyDir, secret, configMap, downwardAPI and projected volumes are supported", v.Name)
		}
	}
	if pod.Spec.ActiveDeadlineSeconds != nil {
		return errors.New("activeDeadlineSeconds of a pod is not supported")
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy != nil {
			return fmt.Errorf("init container %s: restartPolicy (a sidecar) is not supported", c.Name)
		}
		if err := unsupportedContainer(c); err != nil {
			return fmt.Errorf("init container %s: %w", c.Name, err)
		}
	}
	for i := range pod.Spec.Containers {
		if err := unsupportedContainer(&pod.Spec.Containers[i]); err != nil {
			return fmt.Errorf("container %s: %w", pod.Spec.Containers[i].Name, err)
		}
	}
	return nil
}

func unsupportedContainer(c *corev1.Container) error {
	for _, mount := range c.VolumeMounts {
		if mount.SubPath != "" || mount.SubPathExpr != "" {
			return fmt.Errorf("subPath of the mount %s is not supported", mount.MountPath)
		}
	}
	if len(c.VolumeDevices) > 0 {
		return errors.New("volumeDevices are not supported")
	}
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p != nil && p.HTTPGet == nil && p.TCPSocket == nil {
			return errors.New("only httpGet and tcpSocket probes are supported")
		}
	}
	if c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
		return errors.New("postStart hooks are not supported")
	}
	if c.Lifecycle != nil && c.Lifecycle.PreStop != nil {
		if hook := c.Lifecycle.PreStop; hook.Sleep == nil && hook.HTTPGet == nil {
			return errors.New("only sleep and httpGet preStop hooks are supported")
		}
	}
	return nil
}

// lostState is the state of a container whose node went away while it ran.
func lostState(startedAt metav1.Time) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: 137, Reason: reasonUnknown, Message: "the node went away while the container ran",
		StartedAt: startedAt, FinishedAt: metav1.Now(),
	}
}
