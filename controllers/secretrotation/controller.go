// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package secretrotation is the controller of SecretRotation: it reads what a rotation depends on, asks internal/rotation
// what to do, writes the keyring, and tells people. It is the only writer of a keyring that exists.
package secretrotation

import (
	"cmp"
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	v1alpha1ac "github.com/hookonce/hookonce/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/rotation"
)

// DefaultIntervals are how often a rotation is looked at.
var DefaultIntervals = rotation.Intervals{Propagation: 2 * time.Second, Status: 10 * time.Second, Secret: 30 * time.Second}

// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=secretrotations,verbs=get;list;watch
// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=secretrotations/status,verbs=patch
// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=webhookendpoints,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler brings SecretRotations about.
type Reconciler struct {
	client    client.Client
	live      client.Reader
	applier   reconcile.Applier
	poller    *reconcile.Poller
	recorder  events.EventRecorder
	now       func() time.Time
	intervals rotation.Intervals
}

// New returns a Reconciler. The client reads the project's kinds and pods through the manager's cache; live reads Secrets
// from the API server. Intervals that are zero are those of DefaultIntervals.
func New(
	c client.Client, live client.Reader, recorder events.EventRecorder, now func() time.Time, intervals rotation.Intervals,
) *Reconciler {
	return &Reconciler{
		client:   c,
		live:     live,
		applier:  reconcile.Applier{Client: c, Live: live},
		poller:   reconcile.NewPoller(c),
		recorder: recorder,
		now:      now,
		intervals: rotation.Intervals{
			Propagation: cmp.Or(intervals.Propagation, DefaultIntervals.Propagation),
			Status:      cmp.Or(intervals.Status, DefaultIntervals.Status),
			Secret:      cmp.Or(intervals.Secret, DefaultIntervals.Secret),
		},
	}
}

// pass is everything that one look at a SecretRotation has read and decided.
type pass struct {
	object   *v1alpha1.SecretRotation
	endpoint *v1alpha1.WebhookEndpoint
	keyring  *reconcile.Ring
	spec     rotation.Spec
	seen     rotation.Observed
	decision rotation.Decision
}

// Reconcile looks at one SecretRotation.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &v1alpha1.SecretRotation{}
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !object.DeletionTimestamp.IsZero() {
		// The keyring keeps every deadline without it; see orphans.go for what is left to do.
		return ctrl.Result{}, nil
	}
	p := &pass{object: object}
	err := r.run(ctx, p,
		r.observeSpec,
		r.observeEndpoint,
		r.observeKeyring,
		r.observeSecret,
		r.observeSiblings,
		r.observeReceivers,
		r.plan,
		r.writeKeyring,
	)
	return r.report(ctx, p, err)
}

// step is one thing that a pass does.
type step func(context.Context, *pass) error

// run takes the steps until one fails.
func (r *Reconciler) run(ctx context.Context, p *pass, steps ...step) error {
	for _, s := range steps {
		if err := s(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// plan decides.
func (r *Reconciler) plan(_ context.Context, p *pass) error {
	p.decision = rotation.Plan(r.now(), p.spec, p.seen)
	return nil
}

// report writes the status, records events for what has changed, and says when to look again.
func (r *Reconciler) report(ctx context.Context, p *pass, failure error) (ctrl.Result, error) {
	conditions := reconcile.NewConditions(p.object.Generation, p.object.Status.Conditions)
	if apierrors.IsConflict(failure) {
		// Somebody else was faster: nothing is known, so nothing is said.
		return reconcile.Settle(conditions, 0, reconcile.Ready{}, failure)
	}
	status, result, failure := r.conclude(p, conditions, failure)
	r.announceEvicted(p)
	_, err := r.applier.ApplyStatus(ctx, withStatus(p.object, status), p.object, reconcile.FieldOwner)
	switch {
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	case apierrors.IsConflict(err):
		return reconcile.Settle(conditions, 0, reconcile.Ready{}, err)
	case err != nil:
		return ctrl.Result{}, err
	}
	r.announce(p, conditions)
	r.warnOfUse(p, conditions)
	return result, failure
}

// conclude says what a pass came to: the status to write, and when to look again.
func (r *Reconciler) conclude(
	p *pass, conditions *reconcile.Conditions, failure error,
) (*v1alpha1ac.SecretRotationStatusApplyConfiguration, ctrl.Result, error) {
	var result ctrl.Result
	var status *v1alpha1ac.SecretRotationStatusApplyConfiguration
	if failure == nil {
		setConditions(conditions, p.decision)
		status = statusOf(p)
		result.RequeueAfter = p.decision.WakeAfter
	} else {
		p.decision = rotation.Decision{}
		status = statusAsItWas(p.object)
		result, failure = settle(conditions, r.intervals.Secret, failure)
	}
	return status.WithConditions(conditions.ApplyConfigurations()...), result, failure
}
