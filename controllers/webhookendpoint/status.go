// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	applyv1alpha1 "github.com/hookonce/hookonce/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
)

// writeStatus writes the status, and the counts if they are to be written: two field owners, so that neither needs to know
// what the other last wrote. Nothing is sent while the status says the same already, and nothing that was found of another
// version of the endpoint than the one that is there: that is a conflict.
func (r *Reconciler) writeStatus(ctx context.Context, p *pass) error {
	status := p.status
	status.Conditions = p.conditions.List
	status.Deliveries = nil
	live := p.endpoint.DeepCopy()
	err := r.applyStatus(ctx, live, status, reconcile.FieldOwner)
	if err == nil && p.counts != nil {
		err = r.applyStatus(ctx, live, v1alpha1.WebhookEndpointStatus{Deliveries: p.counts}, reconcile.StatsFieldOwner)
	}
	return client.IgnoreNotFound(err)
}

// applyStatus writes one owner's part, and moves live on to the version that the object has then.
func (r *Reconciler) applyStatus(
	ctx context.Context, live *v1alpha1.WebhookEndpoint, status v1alpha1.WebhookEndpointStatus, owner client.FieldOwner,
) error {
	configuration, err := statusConfiguration(status)
	if err != nil {
		return err
	}
	desired := applyv1alpha1.WebhookEndpoint(live.Name, live.Namespace).WithStatus(configuration)
	live.ResourceVersion, err = r.applier.ApplyStatus(ctx, desired, live, owner)
	return err
}

// statusConfiguration returns the fields that a status sets: the two types have one JSON form.
func statusConfiguration(status v1alpha1.WebhookEndpointStatus) (*applyv1alpha1.WebhookEndpointStatusApplyConfiguration, error) {
	encoded, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	configuration := applyv1alpha1.WebhookEndpointStatus()
	if err := json.Unmarshal(encoded, configuration); err != nil {
		return nil, fmt.Errorf("decode status: %w", err)
	}
	return configuration, nil
}
