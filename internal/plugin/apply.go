// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// lookEvery is how often what is waited for is looked at.
const lookEvery = time.Second

// apply applies the manifest of what, a kind and a name, on the server. force takes fields over from others who have set them
// to something else.
func (c *cluster) apply(ctx context.Context, what string, manifest runtime.ApplyConfiguration, force bool) error {
	options := []client.ApplyOption{client.FieldOwner(FieldManager)}
	if force {
		options = append(options, client.ForceOwnership)
	}
	err := c.Apply(ctx, manifest, options...)
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("%s says something else, and somebody else owns that: %w: change it where it comes from, "+
			"or take it over with --force-conflicts", what, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("you may not apply %s: %w: leave --apply out, and commit the manifest", what, err)
	case err != nil:
		return fmt.Errorf("apply %s: %w", what, err)
	}
	return nil
}

// rotation reads a SecretRotation.
func (c *cluster) rotation(ctx context.Context, name string) (*v1alpha1.SecretRotation, error) {
	object := &v1alpha1.SecretRotation{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, object); err != nil {
		return nil, fmt.Errorf("read SecretRotation %s: %w", name, err)
	}
	return object, nil
}

// wait waits until a condition of a rotation is True, and calls said with the state whenever there is another message. It
// ends with an error when the condition cannot come true any more without somebody acting, and with errTimeout when the
// time is over.
func (c *cluster) wait(
	ctx context.Context, applied *v1alpha1.SecretRotation, condition string, limit time.Duration, said func(state, message string),
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := ""
	for {
		object, err := c.rotation(ctx, applied.Name)
		switch {
		case ctx.Err() != nil:
		case apierrors.IsNotFound(err) || (err == nil && object.UID != applied.UID):
			return fmt.Errorf("SecretRotation %s was deleted while it was waited for", applied.Name)
		case err != nil && !passing(err):
			return err
		case err == nil:
			if ready := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Message != last {
				last = ready.Message
				said(ready.Reason, last)
			}
			if done, err := reached(object, condition); done || err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTimeout) {
				return fmt.Errorf("wait for %s of SecretRotation %s for %s: %w: it goes on by itself; see kubectl describe srot/%s -n %s, "+
					"or wait longer with --timeout", condition, applied.Name, limit, errTimeout, applied.Name, c.namespace)
			}
			return fmt.Errorf("wait for %s of SecretRotation %s: interrupted: it goes on by itself", condition, applied.Name)
		case <-tick.C:
		}
	}
}

// passing says whether an error of reading may be gone at the next look.
func passing(err error) bool {
	status, fromServer := errors.AsType[*apierrors.StatusError](err)
	return !fromServer || status.Status().Code >= 500 || apierrors.IsTooManyRequests(err)
}

// reached says whether a condition of a rotation is True of its newest spec; the error says that it will not be.
func reached(object *v1alpha1.SecretRotation, condition string) (bool, error) {
	conditions := object.Status.Conditions
	if object.Status.ObservedGeneration != object.Generation {
		return false, nil
	}
	if meta.IsStatusConditionTrue(conditions, condition) {
		return true, nil
	}
	if stalled := meta.FindStatusCondition(conditions, v1alpha1.ConditionStalled); stalled != nil && stalled.Status == metav1.ConditionTrue {
		return false, fmt.Errorf("SecretRotation %s is %s: %s", object.Name, stalled.Reason, stalled.Message)
	}
	if object.Status.CompletionTime != nil {
		ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
		if ready == nil {
			ready = &metav1.Condition{Reason: "over", Message: "it says no more"}
		}
		return false, fmt.Errorf("SecretRotation %s ended as %s without %s: %s", object.Name, ready.Reason, condition, ready.Message)
	}
	return false, nil
}
