// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/rotation"
)

// orphans removes former secrets from keyrings when their time is over and the SecretRotation that would do it has been
// deleted, which is what happens when its manifest goes from Git. Receivers refuse them by themselves.
type orphans struct{ *Reconciler }

// setUpOrphans registers the controller. It looks at an endpoint when the operator starts, when its spec changes, and when
// one of its rotations is deleted.
func (r *Reconciler) setUpOrphans(mgr ctrl.Manager) error {
	deleted := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("keyring").
		For(&v1alpha1.WebhookEndpoint{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.SecretRotation{}, handler.EnqueueRequestsFromMapFunc(endpointOf), builder.WithPredicates(deleted)).
		Complete(orphans{r})
	if err != nil {
		return fmt.Errorf("set up controller of keyrings: %w", err)
	}
	return nil
}

// endpointOf maps a rotation to its endpoint.
func endpointOf(_ context.Context, object client.Object) []ctrl.Request {
	gone, ok := object.(*v1alpha1.SecretRotation)
	if !ok {
		return nil
	}
	key := client.ObjectKey{Namespace: gone.Namespace, Name: gone.Spec.EndpointRef.Name}
	return []ctrl.Request{{NamespacedName: key}}
}

// Reconcile looks at the keyring of one endpoint.
func (o orphans) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	endpoint := &v1alpha1.WebhookEndpoint{}
	if err := o.client.Get(ctx, request.NamespacedName, endpoint); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if endpoint.Spec.Suspend || !endpoint.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	list := &v1alpha1.SecretRotationList{}
	err := o.client.List(ctx, list, client.InNamespace(endpoint.Namespace), client.MatchingFields{endpointField: endpoint.Name})
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("list SecretRotations of %s: %w", endpoint.Name, err)
	}
	found, err := reconcile.ReadRing(ctx, o.live, o.client.Scheme(), endpoint)
	switch fault := reconcile.Classify(err); {
	case fault != nil && fault.Class == reconcile.ClassRetry:
		return ctrl.Result{}, err
	case found == nil:
		// No keyring, or one that cannot be used: those who need it say so in a status.
		return ctrl.Result{}, nil
	}
	alive := make([]string, 0, len(list.Items))
	for i := range list.Items {
		alive = append(alive, string(list.Items[i].UID))
	}
	next, again := rotation.Sweep(o.now(), found.Keyring, alive)
	if next != found.Keyring {
		err = writeRing(ctx, o.client, found, next)
	}
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: o.intervals.Propagation}, nil
	}
	return ctrl.Result{RequeueAfter: again}, err
}
