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
// what the other last wrote. Nothing is sent while the status says the same already.
func (r *Reconciler) writeStatus(ctx context.Context, p *pass) error {
	status := p.status
	status.Conditions = p.conditions.List
	status.Deliveries = nil
	if err := r.applyStatus(ctx, p, status, reconcile.FieldOwner); err != nil {
		return err
	}
	if p.counts == nil {
		return nil
	}
	return r.applyStatus(ctx, p, v1alpha1.WebhookEndpointStatus{Deliveries: p.counts}, reconcile.StatsFieldOwner)
}

func (r *Reconciler) applyStatus(ctx context.Context, p *pass, status v1alpha1.WebhookEndpointStatus, owner client.FieldOwner) error {
	configuration, err := statusConfiguration(status)
	if err != nil {
		return err
	}
	desired := applyv1alpha1.WebhookEndpoint(p.endpoint.Name, p.endpoint.Namespace).WithStatus(configuration)
	_, err = r.applier.ApplyStatus(ctx, desired, p.endpoint, owner)
	return client.IgnoreNotFound(err)
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
