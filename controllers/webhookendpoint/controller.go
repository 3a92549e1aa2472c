// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhookendpoint reconciles WebhookEndpoints: it makes the keyring and everything that receivers run on, asks
// for a SecretRotation when the signing secret changes, and shows what the receivers know in the status.
package webhookendpoint

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// jitter spreads the passes over endpoints, so that they do not all ask at the same moment.
const jitter = 0.1

// Options are the settings of the controller.
type Options struct {
	// Render are the settings that go into what is rendered.
	Render render.Settings
	// StatusInterval is how often receivers are asked for their status.
	StatusInterval time.Duration
	// SecretInterval is how often the Secrets that a spec names are read; a changed spec, and receivers that see unknown
	// bytes, have them read at once.
	SecretInterval time.Duration
	// Concurrency is how many endpoints are reconciled at once.
	Concurrency int
}

// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=webhookendpoints,verbs=get;list;watch
// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=webhookendpoints/status,verbs=patch
// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=webhookendpoints/finalizers,verbs=update
// +kubebuilder:rbac:groups=webhooks.hookonce.dev,resources=secretrotations,verbs=get;list;watch;create
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create
// +kubebuilder:rbac:groups="",resources=configmaps;services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler reconciles WebhookEndpoints.
type Reconciler struct {
	client   client.Client
	applier  reconcile.Applier
	poller   *reconcile.Poller
	recorder events.EventRecorder
	now      func() time.Time
	options  Options
	// memory holds, by endpoint, what was found in its Secrets when they were last read. Losing it costs a read.
	memory sync.Map
	// uses holds, by endpoint, a tally of the use of its secrets. Losing it loses some of the count.
	uses sync.Map
}

// step is one part of a pass.
type step func(context.Context, *pass) error

// New returns a Reconciler. The client reads through the manager's cache and Secrets from the API server; live reads
// everything from the API server.
func New(c client.Client, live client.Reader, recorder events.EventRecorder, now func() time.Time, options Options) *Reconciler {
	return &Reconciler{
		client:   c,
		applier:  reconcile.Applier{Client: c, Live: live},
		poller:   reconcile.NewPoller(c),
		recorder: recorder,
		now:      now,
		options:  options,
	}
}

// Reconcile makes one pass over an endpoint: it reads the world, acts on it, and says in the status what it found.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	endpoint := &v1alpha1.WebhookEndpoint{}
	if err := r.client.Get(ctx, request.NamespacedName, endpoint); err != nil {
		r.memory.Delete(request.NamespacedName)
		r.uses.Delete(request.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !endpoint.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	p := newPass(endpoint, r.now())
	defer func() { result, err = r.close(ctx, p, err) }()

	reading := []step{
		r.readConfig,
		r.readKeyring,
		r.readReceivers,
		r.readOldUse,
		r.readSecrets,
		r.readChildren,
	}
	acting := []step{
		r.adopt,
		r.rotate,
		r.apply,
	}
	for _, do := range reading {
		if err := do(ctx, p); err != nil {
			return ctrl.Result{}, err
		}
	}
	p.whole = true
	if endpoint.Spec.Suspend || p.stopped {
		return ctrl.Result{}, nil
	}
	for _, do := range acting {
		if err := do(ctx, p); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

// close says what the pass came to: conditions, status, event, and when the next one is. It is the only place that writes
// the status.
func (r *Reconciler) close(ctx context.Context, p *pass, err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		// Somebody else was faster: what was read is old, so nothing is said.
		return reconcile.Settle(p.conditions, 0, reconcile.Ready{}, err)
	}
	fault := reconcile.Classify(err)
	ready := reconcile.Ready{Reason: v1alpha1.ReasonAvailable, Message: "Receivers serve " + p.status.Path}
	switch {
	case fault != nil && fault.Class == reconcile.ClassRetry:
		// What failed to be read leaves the last findings; what failed to be done does not hide what was read.
		if p.whole {
			p.judge()
		}
	case p.endpoint.Spec.Suspend:
		p.judge()
		err = nil
		ready = reconcile.Ready{
			Reason:  v1alpha1.ReasonSuspended,
			Message: "Nothing is changed while spec.suspend is true; receivers go on as they are",
		}
	default:
		p.report(fault)
		p.judge()
		if err = nil; p.fault != nil {
			err = p.fault
		}
	}
	ready.Message += p.withoutSource()
	interval := wait.Jitter(r.options.StatusInterval, jitter)
	result, err := reconcile.Settle(p.conditions, interval, ready, err)
	if failed := r.writeStatus(ctx, p); failed != nil {
		// What the status does not say yet is found again, and announced then.
		if err == nil {
			return reconcile.Settle(p.conditions, interval, ready, failed)
		}
		return result, err
	}
	r.warnOfUse(p)
	before := p.endpoint.Status.Conditions
	reconcile.Announce(r.recorder, p.endpoint, before, p.conditions)
	reconcile.Warn(r.recorder, p.endpoint, before, p.conditions, v1alpha1.ConditionSecretsResolved, v1alpha1.ReasonServingFromKeyring)
	for _, reason := range []string{
		v1alpha1.ReasonEffectsFailing, v1alpha1.ReasonDestinationSecretUnusable, v1alpha1.ReasonDeliveriesFailing,
	} {
		reconcile.Warn(r.recorder, p.endpoint, before, p.conditions, v1alpha1.ConditionDeliveriesHealthy, reason)
	}
	reconcile.Recovered(r.recorder, p.endpoint, before, p.conditions, v1alpha1.ConditionDeliveriesHealthy)
	return result, err
}

// SetupWithManager registers the controller. Status writes, its own included, start no pass.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	// Pods are asked for in passes and start none; the informer has to exist, for reads never start one.
	if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Pod{}); err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("webhookendpoint").
		For(&v1alpha1.WebhookEndpoint{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Service{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&batchv1.CronJob{}).
		Watches(&v1alpha1.SecretRotation{}, handler.EnqueueRequestsFromMapFunc(endpointOf)).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.options.Concurrency}).
		Complete(r)
}

// endpointOf returns the endpoint that a SecretRotation is about: its progress shows in the endpoint's status.
func endpointOf(_ context.Context, object client.Object) []ctrl.Request {
	rotation, ok := object.(*v1alpha1.SecretRotation)
	if !ok {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{
		Namespace: rotation.Namespace, Name: rotation.Spec.EndpointRef.Name,
	}}}
}
