// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/test/story"
)

// jointCommit brings a Secret, the rotation to it and the line of the endpoint at once, and takes all three back at once: the
// former secret is current again, and the one that is gone from Git stays accepted.
func jointCommit(t *testing.T, s *shop) {
	commit(t, "a rotation and its line", map[string]string{
		"secret-g.yaml": secretManifest("gitops-g", secrets.g), "rotation-g.yaml": rotationManifest("gitops-to-g", "gitops-g"),
		"endpoint.yaml": endpointManifest("gitops-g"),
	})
	accepted(t, secrets.g, secrets.f)
	diverged(t, "")
	s.sign(t, secrets.f, secrets.g)
	reverted(t, s, "revert of the rotation and its line", secrets.f, secrets.g)
	healthy(t)
}

// jointEmergency brings a Secret, the line of the endpoint, and a rotation that revokes, at once.
func jointEmergency(t *testing.T, s *shop) {
	s.sign(t, secrets.g)
	commit(t, "an emergency and its line", map[string]string{
		"secret-h.yaml":   secretManifest("gitops-h", secrets.h),
		"rotation-h.yaml": rotationManifest("gitops-to-h", "gitops-h") + "  revocation: Immediate\n",
		"endpoint.yaml":   endpointManifest("gitops-h"),
	})
	accepted(t, secrets.h, secrets.g)
	eventually(t, readyLimit, func(context.Context) error {
		return story.Condition(rotations(t)["gitops-to-h"].Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "Revoked")
	})
	s.sign(t, secrets.g, secrets.h)
	refused(t, s, secrets.f)
	diverged(t, "")
	healthy(t)
}
