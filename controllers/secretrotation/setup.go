// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/rotation"
)

const (
	// endpointField is the index of SecretRotations by the name of their endpoint.
	endpointField = "spec.endpointRef.name"
	// concurrency is how many rotations are looked at together: receivers that do not answer must not hold up other
	// endpoints. Two passes that write one keyring are kept apart by its resource version.
	concurrency = 4
)

// SetupWithManager registers the controllers of this package: that of SecretRotations, and that of the former secrets
// whose SecretRotation is gone.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.SecretRotation{}, endpointField, func(object client.Object) []string {
		rotation, ok := object.(*v1alpha1.SecretRotation)
		if !ok {
			return nil
		}
		return []string{rotation.Spec.EndpointRef.Name}
	})
	if err != nil {
		return fmt.Errorf("index SecretRotations by endpoint: %w", err)
	}
	err = ctrl.NewControllerManagedBy(mgr).
		Named("secretrotation").
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		For(&v1alpha1.SecretRotation{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.WebhookEndpoint{}, handler.EnqueueRequestsFromMapFunc(r.unfinished), builder.WithPredicates(endpointChanged())).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up controller of SecretRotations: %w", err)
	}
	return r.setUpOrphans(mgr)
}

// unfinished maps an endpoint to its rotations that something may still happen to.
func (r *Reconciler) unfinished(ctx context.Context, endpoint client.Object) []ctrl.Request {
	list := &v1alpha1.SecretRotationList{}
	err := r.client.List(ctx, list, client.InNamespace(endpoint.GetNamespace()), client.MatchingFields{endpointField: endpoint.GetName()})
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to list SecretRotations of an endpoint", "endpoint", endpoint.GetName())
		return nil
	}
	var requests []ctrl.Request
	for i := range list.Items {
		item := &list.Items[i]
		spec := rotation.Spec{Immediate: item.Spec.Revocation == v1alpha1.RevocationImmediate}
		if !rotation.Settled(spec, recordedIn(&item.Status)) {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(item)})
		}
	}
	return requests
}

// endpointChanged passes what rotations wait for: the endpoint, its spec, and its keyring, which shows in its status. The
// counts in its status are none of their business.
func endpointChanged() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, ok := e.ObjectOld.(*v1alpha1.WebhookEndpoint)
			is, also := e.ObjectNew.(*v1alpha1.WebhookEndpoint)
			return ok && also && (was.Generation != is.Generation || currentOf(was) != currentOf(is))
		},
	}
}

func currentOf(endpoint *v1alpha1.WebhookEndpoint) string {
	if endpoint.Status.CurrentSecret == nil {
		return ""
	}
	return endpoint.Status.CurrentSecret.Fingerprint
}
