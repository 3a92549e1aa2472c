// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// follow takes a rotation that has propagated to its end, and judges it.
func (r *run) follow(c *change) error {
	end := due{mustBy: c.everywhere.Add(*overlap)}
	switch c.revoke {
	case atOnce:
		end.mustBy = c.everywhere
	case later:
		if err := r.revokeLater(c, &end); err != nil {
			return err
		}
	case never:
	}
	if err := r.shop.await(c.object, v1alpha1.ConditionPreviousRetired); err != nil {
		return err
	}
	end.mayBy = time.Now()
	if c.revoke == never {
		until, err := time.Parse(time.RFC3339, c.object.Status.OverlapEndTime)
		if err != nil {
			return fmt.Errorf("read the end of the overlap: %w", err)
		}
		// The deadline has no fractions of a second, and is never early.
		if limit := c.told.Add(*overlap + time.Second); until.After(limit) {
			return fmt.Errorf("the overlap ends %s later than it should", until.Sub(limit))
		}
		end.mayBy = until.Add(grace)
	}
	if !pause(r.Context(), time.Until(end.mayBy)) {
		return r.Context().Err()
	}
	seen, complaints := c.witness.judge(end)
	for _, complaint := range complaints[:min(len(complaints), 5)] {
		r.Errorf("%s, %+v: %s", r.shop.name, c.step, complaint)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total.inside += seen.inside
	r.total.refusedInside += seen.refusedInside
	r.total.after += seen.after
	r.total.acceptedAfter += seen.acceptedAfter
	return nil
}

// revokeLater revokes the former secret in the middle of its overlap, once the provider no longer signs with it.
func (r *run) revokeLater(c *change, end *due) error {
	if !pause(r.Context(), time.Until(c.everywhere.Add(*overlap/2))) {
		return r.Context().Err()
	}
	r.provider.abandon(c.was)
	eventuallyIdle := time.Now().Add(patience)
	for r.provider.oldUnderWay.Load() > 0 {
		if time.Now().After(eventuallyIdle) || !pause(r.Context(), 5*time.Millisecond) {
			return fmt.Errorf("requests with the former secret stay under way")
		}
	}
	end.mustBy = time.Now()
	patch := client.MergeFrom(c.object.DeepCopy())
	c.object.Spec.Revocation = v1alpha1.RevocationImmediate
	if err := r.shop.api.Patch(r.Context(), c.object, patch); err != nil {
		return fmt.Errorf("revoke: %w", err)
	}
	return nil
}

// apply makes a Secret and a SecretRotation that names it.
func (s *shop) apply(plan step, name, secret string) (*v1alpha1.SecretRotation, error) {
	if err := s.api.Create(s.Context(), &corev1.Secret{ObjectMeta: s.meta(name), Data: map[string][]byte{"secret": []byte(secret)}}); err != nil {
		return nil, fmt.Errorf("make a Secret: %w", err)
	}
	object := &v1alpha1.SecretRotation{
		ObjectMeta: s.meta(fmt.Sprintf("rotation-%d", plan.number)),
		Spec: v1alpha1.SecretRotationSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: s.name},
			SecretRef:   v1alpha1.SecretKeyReference{Name: name, Key: "secret"},
			Overlap:     v1alpha1.Duration(overlap.String()),
		},
	}
	if plan.revoke == atOnce {
		object.Spec.Revocation = v1alpha1.RevocationImmediate
	}
	if err := s.api.Create(s.Context(), object); err != nil {
		return nil, fmt.Errorf("make a SecretRotation: %w", err)
	}
	s.known[object.Name] = true
	return object, nil
}

// alter changes the bytes of the Secret that the endpoint names, and waits for the SecretRotation that the operator makes.
func (s *shop) alter(name, secret string) (*v1alpha1.SecretRotation, error) {
	object := &corev1.Secret{ObjectMeta: s.meta(name), Data: map[string][]byte{"secret": []byte(secret)}}
	if err := s.api.Update(s.Context(), object); err != nil {
		return nil, fmt.Errorf("change a Secret: %w", err)
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && pause(s.Context(), 20*time.Millisecond); {
		var list v1alpha1.SecretRotationList
		if err := s.api.List(s.Context(), &list, client.InNamespace(s.namespace)); err != nil {
			return nil, fmt.Errorf("list SecretRotations: %w", err)
		}
		for i := range list.Items {
			if !s.known[list.Items[i].Name] {
				s.known[list.Items[i].Name] = true
				return &list.Items[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no SecretRotation came within %s", patience)
}

// await waits until a condition of a rotation is True, and reads the rotation.
func (s *shop) await(object *v1alpha1.SecretRotation, condition string) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && pause(s.Context(), 20*time.Millisecond); {
		if err := s.api.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return fmt.Errorf("read a SecretRotation: %w", err)
		}
		if meta.IsStatusConditionTrue(object.Status.Conditions, condition) {
			return nil
		}
	}
	return fmt.Errorf("%s was not True within %s: %+v", condition, patience, object.Status.Conditions)
}

// nameSecret lets the endpoint name another Secret: the line in Git.
func (s *shop) nameSecret(name string) error {
	endpoint := &v1alpha1.WebhookEndpoint{}
	if err := s.api.Get(s.Context(), client.ObjectKeyFromObject(s.endpoint), endpoint); err != nil {
		return fmt.Errorf("read the endpoint: %w", err)
	}
	patch := client.MergeFrom(endpoint.DeepCopy())
	endpoint.Spec.Verification.SecretRef.Name = name
	if err := s.api.Patch(s.Context(), endpoint, patch); err != nil {
		return fmt.Errorf("let the endpoint name another Secret: %w", err)
	}
	return nil
}
