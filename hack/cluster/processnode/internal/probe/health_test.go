// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func spec(success, failure int32) *corev1.Probe {
	return &corev1.Probe{SuccessThreshold: success, FailureThreshold: failure}
}

// A step is a probe's letter (s, r, l) and its answer (+ or -); the state after it is S when
// started, R when ready, K when it must be killed.
func TestHealth(t *testing.T) {
	tests := []struct {
		name      string
		container corev1.Container
		steps     string
		want      string
	}{
		{"no probes", corev1.Container{}, "", "SR"},
		{"readiness begins as not ready", corev1.Container{ReadinessProbe: spec(1, 3)}, "", "S"},
		{"ready at the first success", corev1.Container{ReadinessProbe: spec(1, 3)}, "r- r+", "SR"},
		{"ready needs two successes", corev1.Container{ReadinessProbe: spec(2, 3)}, "r+", "S"},
		{"two successes must be in a row", corev1.Container{ReadinessProbe: spec(2, 3)}, "r+ r- r+", "S"},
		{"two in a row", corev1.Container{ReadinessProbe: spec(2, 3)}, "r+ r- r+ r+", "SR"},
		{"ready until the third failure", corev1.Container{ReadinessProbe: spec(1, 3)}, "r+ r- r-", "SR"},
		{"a success starts the count again", corev1.Container{ReadinessProbe: spec(1, 3)}, "r+ r- r- r+ r- r-", "SR"},
		{"not ready after three", corev1.Container{ReadinessProbe: spec(1, 3)}, "r+ r- r- r-", "S"},
		{"a liveness failure below the threshold", corev1.Container{LivenessProbe: spec(1, 2)}, "l- l+ l-", "SR"},
		{"a liveness failure kills", corev1.Container{LivenessProbe: spec(1, 2)}, "l- l-", "SRK"},
		{"thresholds of zero count as one", corev1.Container{LivenessProbe: spec(0, 0)}, "l-", "SRK"},
		{"startup holds the others back", corev1.Container{StartupProbe: spec(1, 3), LivenessProbe: spec(1, 1), ReadinessProbe: spec(1, 1)}, "l- r+ s-", ""},
		{"after startup", corev1.Container{StartupProbe: spec(1, 3), ReadinessProbe: spec(1, 1)}, "s- s- s+ r+", "SR"},
		{"startup without readiness", corev1.Container{StartupProbe: spec(1, 3)}, "s+", "SR"},
		{"startup is not asked again", corev1.Container{StartupProbe: spec(1, 1)}, "s+ s-", "SR"},
		{"startup fails", corev1.Container{StartupProbe: spec(1, 3)}, "s- s- s-", "K"},
		{"nothing counts after the kill", corev1.Container{StartupProbe: spec(1, 1)}, "s- s+", "K"},
	}
	kinds := map[byte]Kind{'s': Startup, 'r': Readiness, 'l': Liveness}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			health := NewHealth(&test.container)
			for step := range strings.FieldsSeq(test.steps) {
				health.Observe(kinds[step[0]], step[1] == '+')
			}
			got := ""
			if health.Started() {
				got += "S"
			}
			if health.Ready() {
				got += "R"
			}
			if health.Kill() != "" {
				got += "K"
			}
			if got != test.want {
				t.Errorf("after %q the state is %q, want %q", test.steps, got, test.want)
			}
		})
	}
}
