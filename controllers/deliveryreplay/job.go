// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package deliveryreplay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// work lets the Job run that the decision asks for. A Job that exists stays as it is: its pods cannot be changed, and go on
// where they were.
func (r *Reconciler) work(ctx context.Context, p *pass) error {
	if !p.decision.job {
		return nil
	}
	job := &batchv1.Job{}
	key := client.ObjectKey{Namespace: p.object.Namespace, Name: render.ReplayJobName(p.object.Name, p.decision.send)}
	err := r.client.Get(ctx, key, job)
	switch {
	case apierrors.IsNotFound(err):
		return r.begin(ctx, p)
	case err != nil:
		return fmt.Errorf("read the Job: %w", err)
	}
	if err := reconcile.Controlled(r.client.Scheme(), p.object, job); err != nil {
		return err
	}
	if failed(job) {
		return reconcile.Terminal(v1alpha1.ReasonReplayJobFailed,
			"The Job failed: see kubectl logs -n %s job/%s. Mend what it says and delete the Job, which then goes on where it was",
			key.Namespace, key.Name)
	}
	return nil
}

func (r *Reconciler) begin(ctx context.Context, p *pass) error {
	requestedBy := p.object.Spec.RequestedBy
	if requestedBy == "" {
		// The cache keeps the operator's own field managers only.
		whole := &v1alpha1.DeliveryReplay{}
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(p.object), whole); err != nil {
			return fmt.Errorf("read the DeliveryReplay: %w", err)
		}
		requestedBy = managers(whole)
	}
	request, err := render.ReplayRequest(p.object, requestedBy, p.decision.send)
	if err != nil {
		return reconcile.Terminal(v1alpha1.ReasonInvalidSpec, "The spec cannot be used: %s", err)
	}
	job, err := render.ReplayJob(p.endpoint, p.object, request, r.options.Render)
	if err != nil {
		return reconcile.Terminal(v1alpha1.ReasonInvalidSpec, "The spec cannot be used: %s", err)
	}
	change, err := r.applier.Apply(ctx, p.object, job)
	if err != nil {
		return err
	}
	log.FromContext(ctx).Info("Started", "object", change.Object, "send", p.decision.send)
	return nil
}

// managers are the field managers that wrote the spec.
func managers(object client.Object) string {
	var names []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" && !slices.Contains(names, entry.Manager) {
			names = append(names, entry.Manager)
		}
	}
	return "field manager " + strings.Join(names, ", ")
}

func failed(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(condition batchv1.JobCondition) bool {
		return condition.Type == batchv1.JobFailed && condition.Status == corev1.ConditionTrue
	})
}
