// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/test/story"
)

// revokedSecret commits an emergency: a rotation that revokes the former secret. A revert that names the revoked secret
// again is refused and said so, by the endpoint and so by the Kustomization, while deliveries go on.
func revokedSecret(t *testing.T, s *shop) {
	s.sign(t, secrets.e)
	_, err := repo.commit(t.Context(), "a rotation that revokes", map[string]string{
		"secret-f.yaml":   secretManifest("gitops-f", secrets.f),
		"rotation-f.yaml": rotationManifest("gitops-to-f", "gitops-f") + "  revocation: Immediate\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	// The endpoint names the revoked secret until the next commit: it is Stalled, and so nothing is Ready for Flux.
	eventually(t, readyLimit, func(context.Context) error {
		return story.Condition(rotations(t)["gitops-to-f"].Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "Revoked")
	})
	s.sign(t, secrets.e, secrets.f)
	refused(t, s, secrets.d)
	commit(t, "the endpoint names the new Secret", map[string]string{"endpoint.yaml": endpointManifest("gitops-f")})
	before := recorded(t)

	id, err := repo.revert(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, readyLimit, func(ctx context.Context) error {
		endpoint, err := world.Endpoint(ctx, endpointName)
		if err != nil {
			return err
		}
		return story.Condition(endpoint.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSecretRevoked)
	})
	eventually(t, readyLimit, func(ctx context.Context) error {
		object, err := syncer.kustomization(ctx)
		if err != nil {
			return err
		}
		status, message := condition(object, "Ready")
		if status != "False" || !strings.Contains(message, endpointName) {
			return fmt.Errorf("after %s the Kustomization's Ready is %s: %s", id, status, message)
		}
		return nil
	})
	refused(t, s, secrets.d)
	if after := recorded(t); after.revision != before.revision {
		t.Errorf("the keyring changed: before %+v, after %+v", before, after)
	}
	if id, err = repo.revert(t.Context()); err != nil {
		t.Fatal(err)
	}
	follow(t, "revert of the revert", id)
	unrotated(t, before)
}

// refused fails the test unless every receiver comes to refuse a secret, whichever of them is asked.
func refused(t *testing.T, s *shop, secret string) {
	t.Helper()
	key, err := s.provider.scheme.SigningKey().Decode([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, readyLimit, func(ctx context.Context) error {
		for n := range 10 {
			status, err := s.provider.deliver(ctx, world.Event(fmt.Sprintf("gitops-revoked-%d", n)), key)
			if err != nil {
				return err
			}
			if status != http.StatusUnauthorized {
				return errors.New("a revoked secret is accepted")
			}
		}
		return nil
	})
}
