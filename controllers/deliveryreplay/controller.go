// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deliveryreplay is the controller of DeliveryReplay: it runs the Jobs that choose and send deliveries, and says what
// receivers know of them. What was chosen and how far it is stands in the ledger.
package deliveryreplay

import (
	"cmp"
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// DefaultInterval is how often receivers are asked how far a replay is.
const DefaultInterval = 10 * time.Second

// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=deliveryreplays,verbs=get;list;watch
// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=deliveryreplays/status,verbs=patch
// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=deliveryreplays/finalizers,verbs=update
// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=webhookendpoints,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Options are the settings of a Reconciler.
type Options struct {
	// Render are the settings that go into Jobs.
	Render render.Settings
	// Interval is how often receivers are asked. Default DefaultInterval.
	Interval time.Duration
}

// Reconciler brings DeliveryReplays about.
type Reconciler struct {
	client   client.Client
	live     client.Reader
	applier  reconcile.Applier
	poller   *reconcile.Poller
	recorder events.EventRecorder
	now      func() time.Time
	options  Options
}

// New returns a Reconciler. The client reads the project's kinds, Jobs and pods through the manager's cache; live reads from
// the API server.
func New(
	c client.Client, live client.Reader, recorder events.EventRecorder, now func() time.Time, options Options,
) *Reconciler {
	options.Interval = cmp.Or(options.Interval, DefaultInterval)
	return &Reconciler{
		client: c, live: live, applier: reconcile.Applier{Client: c, Live: live}, poller: reconcile.NewPoller(c),
		recorder: recorder, now: now, options: options,
	}
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named("deliveryreplay").
		For(&v1alpha1.DeliveryReplay{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&batchv1.Job{}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up controller of DeliveryReplays: %w", err)
	}
	return nil
}

// pass is everything that one look at a DeliveryReplay has read and decided.
type pass struct {
	object   *v1alpha1.DeliveryReplay
	endpoint *v1alpha1.WebhookEndpoint
	// progress is what a receiver knows of the replay; nil if none knows of it.
	progress *receiverstatus.Replay
	decision decision
}

// Reconcile looks at one DeliveryReplay.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &v1alpha1.DeliveryReplay{}
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	// What is deleted takes its Jobs with it; what is in the outbox by then is delivered.
	if !object.DeletionTimestamp.IsZero() || object.Status.CompletionTime != nil {
		return ctrl.Result{}, nil
	}
	p := &pass{object: object}
	err := r.observeEndpoint(ctx, p)
	if err == nil {
		err = r.observeProgress(ctx, p)
	}
	if err == nil {
		p.decision = decide(&object.Spec, &object.Status, p.progress)
		err = r.work(ctx, p)
	}
	return r.report(ctx, p, err)
}

func (r *Reconciler) observeEndpoint(ctx context.Context, p *pass) error {
	p.endpoint = &v1alpha1.WebhookEndpoint{}
	key := client.ObjectKey{Namespace: p.object.Namespace, Name: p.object.Spec.EndpointRef.Name}
	err := r.client.Get(ctx, key, p.endpoint)
	if apierrors.IsNotFound(err) {
		return reconcile.Waiting(v1alpha1.ReasonEndpointNotFound, r.options.Interval,
			"There is no WebhookEndpoint %s in this namespace: create it, or delete this DeliveryReplay and create one that names another", key.Name)
	}
	if err != nil {
		return fmt.Errorf("read the WebhookEndpoint: %w", err)
	}
	return nil
}

// observeProgress asks the receivers. They all read the same ledger, at different times.
func (r *Reconciler) observeProgress(ctx context.Context, p *pass) error {
	_, receivers, err := r.poller.Poll(ctx, p.endpoint.Namespace, render.ReceiverSelector(p.endpoint.Name))
	if err != nil {
		return err
	}
	for _, receiver := range receivers.Answered() {
		for i := range receiver.Status.Replays {
			known := &receiver.Status.Replays[i]
			if known.ID == string(p.object.UID) && (p.progress == nil || further(known, p.progress)) {
				p.progress = known
			}
		}
	}
	return nil
}

// further says whether a was seen later than b.
func further(a, b *receiverstatus.Replay) bool {
	done := func(r *receiverstatus.Replay) int64 { return r.Sent + r.Skipped + r.Succeeded + r.Failed }
	return a.Ended && !b.Ended || a.Ended == b.Ended && done(a) > done(b)
}
