// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The reasons of containers' states are the kubelet's, where it has one.
const (
	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing"
	reasonImagePull    = "ErrImagePull"
	reasonConfigError  = "CreateContainerConfigError"
	reasonCrashLoop    = "CrashLoopBackOff"
	reasonStartError   = "StartError"
	reasonCompleted    = "Completed"
	reasonError        = "Error"
	reasonUnknown      = "ContainerStatusUnknown"
)

// Status is the pod's current status. It holds only the conditions that a node sets.
func (r *Runner) Status() corev1.PodStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	status := corev1.PodStatus{
		ObservedGeneration: r.pod.Generation,
		QOSClass:           r.pod.Status.QOSClass,
		Phase:              r.phase(),
		StartTime:          &r.started,
		HostIP:             r.node.HostIP,
		HostIPs:            []corev1.HostIP{{IP: r.node.HostIP}},
		PodIP:              r.ip,
		PodIPs:             []corev1.PodIP{{IP: r.ip}},
	}
	status.InitContainerStatuses = statuses(r.inits)
	status.ContainerStatuses = statuses(r.mains)
	status.Conditions = append(status.Conditions, r.conditions...)
	return *status.DeepCopy()
}

func statuses(containers []*container) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range containers {
		out = append(out, c.status)
	}
	return out
}

func (r *Runner) phase() corev1.PodPhase {
	return phase(statuses(r.inits), statuses(r.mains), r.over)
}

// phase follows the kubelet: Pending until all containers have run, Running while one may still
// run, and at last Succeeded only if all ended well. Over means that nothing will run any more.
func phase(inits, mains []corev1.ContainerStatus, over bool) corev1.PodPhase {
	if over {
		for _, status := range append(append([]corev1.ContainerStatus{}, inits...), mains...) {
			if ended := status.State.Terminated; ended == nil || ended.ExitCode != 0 {
				return corev1.PodFailed
			}
		}
		return corev1.PodSucceeded
	}
	if !initialized(inits) {
		return corev1.PodPending
	}
	for _, status := range mains {
		if status.State.Waiting != nil && status.LastTerminationState.Terminated == nil {
			return corev1.PodPending
		}
	}
	return corev1.PodRunning
}

func initialized(inits []corev1.ContainerStatus) bool {
	for _, status := range inits {
		if status.State.Terminated == nil || status.State.Terminated.ExitCode != 0 {
			return false
		}
	}
	return true
}

// settle gives a container that will not run any more the state of its last run, or says that it
// never ran.
func settle(status *corev1.ContainerStatus) {
	if status.State.Terminated != nil {
		return
	}
	ended := status.LastTerminationState.Terminated
	if ended == nil {
		ended = &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: reasonUnknown, Message: "the container did not run before the pod ended",
		}
	}
	status.State = corev1.ContainerState{Terminated: ended}
	status.Ready, status.Started = false, new(false)
}

// setConditions brings the conditions up to date; an unchanged one keeps its time.
func (r *Runner) setConditions() {
	now := metav1.Now()
	for _, wanted := range conditions(r.phase(), statuses(r.inits), statuses(r.mains)) {
		wanted.ObservedGeneration = r.pod.Generation
		wanted.LastTransitionTime = now
		found := false
		for i := range r.conditions {
			if r.conditions[i].Type != wanted.Type {
				continue
			}
			found = true
			if r.conditions[i].Status == wanted.Status {
				wanted.LastTransitionTime = r.conditions[i].LastTransitionTime
			}
			r.conditions[i] = wanted
		}
		if !found {
			r.conditions = append(r.conditions, wanted)
		}
	}
}

func conditions(phase corev1.PodPhase, inits, mains []corev1.ContainerStatus) []corev1.PodCondition {
	set := func(kind corev1.PodConditionType, ok bool, reason string, names []string) corev1.PodCondition {
		if ok {
			return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue}
		}
		condition := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason}
		switch phase {
		case corev1.PodSucceeded:
			condition.Reason = "PodCompleted"
		case corev1.PodFailed:
			condition.Reason = "PodFailed"
		default:
			condition.Message = "waiting for containers: [" + strings.Join(names, " ") + "]"
		}
		return condition
	}
	var uninitialized, unready []string
	for _, status := range inits {
		if !initialized([]corev1.ContainerStatus{status}) {
			uninitialized = append(uninitialized, status.Name)
		}
	}
	for _, status := range mains {
		if !status.Ready {
			unready = append(unready, status.Name)
		}
	}
	isReady := len(uninitialized) == 0 && len(unready) == 0
	return []corev1.PodCondition{
		set(corev1.PodInitialized, len(uninitialized) == 0, "ContainersNotInitialized", uninitialized),
		set(corev1.ContainersReady, isReady, "ContainersNotReady", append(uninitialized, unready...)),
		set(corev1.PodReady, isReady, "ContainersNotReady", append(uninitialized, unready...)),
	}
}
