// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// apply brings everything that receivers run on to what the spec asks.
func (r *Reconciler) apply(ctx context.Context, p *pass) error {
	for _, child := range render.Children(p.endpoint, p.document, r.options.Render) {
		change, err := r.applier.Apply(ctx, p.endpoint, child)
		if err != nil {
			return err
		}
		if change.Written() {
			log.FromContext(ctx).Info("Applied", told(change)...)
		}
		p.see(change.Live)
	}
	return nil
}

// told is what the log says of a change: a child that is new has no fields that were wrong.
func told(change reconcile.Change) []any {
	if change.Created {
		return []any{"object", change.Object, "created", true}
	}
	return []any{"object", change.Object, "fields", change.Fields}
}

// see keeps a child whose status says something about the endpoint.
func (p *pass) see(child client.Object) {
	switch child := child.(type) {
	case *appsv1.Deployment:
		p.deployment = child
	case *batchv1.CronJob:
		p.cronJob = child
	}
}

// readChildren reads these children for passes that do not act; those that do see them as they are after it.
func (r *Reconciler) readChildren(ctx context.Context, p *pass) error {
	deployment := &appsv1.Deployment{}
	err := r.client.Get(ctx, client.ObjectKey{Namespace: p.endpoint.Namespace, Name: p.names.Receiver}, deployment)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the Deployment: %w", err)
	}
	if !apierrors.IsNotFound(err) {
		p.deployment = deployment
	}
	cronJob := &batchv1.CronJob{}
	err = r.client.Get(ctx, client.ObjectKey{Namespace: p.endpoint.Namespace, Name: p.names.Prune}, cronJob)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the CronJob: %w", err)
	}
	if !apierrors.IsNotFound(err) {
		p.cronJob = cronJob
	}
	return nil
}
