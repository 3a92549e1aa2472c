// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// The states of a container in the tests below: w waits, r runs, 0 and 1 have ended with that
// code, b waits for its next run after it failed.
func statusesOf(letters string) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, letter := range letters {
		var status corev1.ContainerStatus
		switch letter {
		case 'w':
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: reasonCreating}
		case 'r':
			status.State.Running = &corev1.ContainerStateRunning{}
			status.Ready = true
		case 'b':
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: reasonCrashLoop}
			status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
		default:
			status.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: letter - '0'}
		}
		status.Name = string(letter)
		out = append(out, status)
	}
	return out
}

func TestPhase(t *testing.T) {
	tests := []struct {
		inits, mains string
		over         bool
		want         corev1.PodPhase
	}{
		{"", "w", false, corev1.PodPending},
		{"r", "w", false, corev1.PodPending},
		{"0r", "w", false, corev1.PodPending},
		{"b", "w", false, corev1.PodPending},
		{"0", "rw", false, corev1.PodPending},
		{"0", "rr", false, corev1.PodRunning},
		{"0", "rb", false, corev1.PodRunning},
		{"", "b", false, corev1.PodRunning},
		{"", "0r", false, corev1.PodRunning},
		{"", "0", false, corev1.PodRunning},
		{"0", "00", true, corev1.PodSucceeded},
		{"0", "01", true, corev1.PodFailed},
		{"1", "w", true, corev1.PodFailed},
		{"", "b", true, corev1.PodFailed},
	}
	for _, test := range tests {
		mains := statusesOf(test.mains)
		if test.over {
			for i := range mains {
				settle(&mains[i])
			}
		}
		if got := phase(statusesOf(test.inits), mains, test.over); got != test.want {
			t.Errorf("init containers %q, containers %q, over %t: phase %s, want %s", test.inits, test.mains, test.over, got, test.want)
		}
	}
}

func TestConditions(t *testing.T) {
	tests := []struct {
		phase        corev1.PodPhase
		inits, mains string
		want         string // of Initialized, ContainersReady, Ready
		reason       string // of Ready
	}{
		{corev1.PodPending, "r", "w", "FFF", "ContainersNotReady"},
		{corev1.PodRunning, "0", "rr", "TTT", ""},
		{corev1.PodRunning, "0", "rb", "TFF", "ContainersNotReady"},
		{corev1.PodSucceeded, "0", "0", "TFF", "PodCompleted"},
		{corev1.PodFailed, "0", "1", "TFF", "PodFailed"},
	}
	for _, test := range tests {
		got := ""
		conditions := conditions(test.phase, statusesOf(test.inits), statusesOf(test.mains))
		for _, condition := range conditions {
			got += string(condition.Status[0])
		}
		if got != test.want || conditions[2].Reason != test.reason {
			t.Errorf("%s %q %q: conditions %s with reason %q, want %s with %q",
				test.phase, test.inits, test.mains, got, conditions[2].Reason, test.want, test.reason)
		}
	}
}

func TestSettle(t *testing.T) {
	ran := statusesOf("b")[0]
	settle(&ran)
	if ran.State.Terminated == nil || ran.State.Terminated.ExitCode != 1 || ran.State.Waiting != nil {
		t.Errorf("a container that failed before ends as %+v", ran.State)
	}
	never := statusesOf("w")[0]
	settle(&never)
	if diff := cmp.Diff(reasonUnknown, never.State.Terminated.Reason); diff != "" {
		t.Errorf("a container that never ran (-want +got):\n%s", diff)
	}
}

func TestRestarts(t *testing.T) {
	good, bad, unhealthy := outcome{}, outcome{code: 1}, outcome{probe: "Liveness"}
	tests := []struct {
		policy                          corev1.RestartPolicy
		init                            bool
		afterGood, afterBad, afterProbe bool
	}{
		{corev1.RestartPolicyAlways, false, true, true, true},
		{corev1.RestartPolicyOnFailure, false, false, true, true},
		{corev1.RestartPolicyNever, false, false, false, false},
		{corev1.RestartPolicyAlways, true, false, true, true},
		{corev1.RestartPolicyOnFailure, true, false, true, true},
		{corev1.RestartPolicyNever, true, false, false, false},
	}
	for _, test := range tests {
		got := []bool{restarts(test.policy, test.init, good), restarts(test.policy, test.init, bad), restarts(test.policy, test.init, unhealthy)}
		if diff := cmp.Diff([]bool{test.afterGood, test.afterBad, test.afterProbe}, got); diff != "" {
			t.Errorf("%s, init %t, restarts after a good end, a bad end, a probe (-want +got):\n%s", test.policy, test.init, diff)
		}
	}
}
