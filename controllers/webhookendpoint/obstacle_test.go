// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/internal/reconcile"
)

func TestObstacle(t *testing.T) {
	waiting := func(reason string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{
			Name:  "migrate",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "never shown: it changes"}},
		}}
	}
	for name, test := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"Starting":   {corev1.PodStatus{ContainerStatuses: waiting("PodInitializing")}, ""},
		"NoImage":    {corev1.PodStatus{InitContainerStatuses: waiting("ErrImagePull")}, "container migrate: its image cannot be pulled"},
		"NoImageYet": {corev1.PodStatus{InitContainerStatuses: waiting("ImagePullBackOff")}, "container migrate: its image cannot be pulled"},
		"Crash":      {corev1.PodStatus{InitContainerStatuses: waiting("CrashLoopBackOff")}, "container migrate: CrashLoopBackOff"},
		"NoNode": {corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available: insufficient memory.",
		}}}, "no node takes the pods: 0/3 nodes are available: insufficient memory."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := obstacle([]corev1.Pod{{}, {Status: test.status}}); got != test.want || strings.Contains(got, "never shown") {
				t.Errorf("obstacle %q, want %q", got, test.want)
			}
		})
	}
}

func TestLogOfAChangeHasNoEmptyFields(t *testing.T) {
	for _, change := range []reconcile.Change{
		{Object: "Service payments", Created: true},
		{Object: "Service payments", Fields: []string{".spec"}},
	} {
		for _, value := range told(change) {
			if list, ok := value.([]string); (ok && len(list) == 0) || value == false {
				t.Errorf("the log of %+v has %v", change, told(change))
			}
		}
	}
}
