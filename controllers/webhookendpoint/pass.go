// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// pass is everything that one pass over an endpoint knows.
type pass struct {
	// endpoint is what the cache has; it is never changed.
	endpoint *v1alpha1.WebhookEndpoint
	now      time.Time
	names    render.Names

	// conditions and status are what the pass ends with; they begin as they were.
	conditions *reconcile.Conditions
	status     v1alpha1.WebhookEndpointStatus
	// fault is the worst one that was reported; stopped says that nothing may be done before it is mended.
	fault   *reconcile.Fault
	stopped bool
	// whole says that everything was read.
	whole bool

	// config is what receivers are told, and document its encoding; nil if the spec cannot be used.
	config   *receiverconfig.Config
	document []byte
	// ring is the keyring; nil before a secret was adopted.
	ring *keyring.Keyring
	// found is what the user's Secrets hold, as of the last time they were read. candidate is the signing secret, if it was
	// read in this pass and can be used.
	found     *findings
	candidate *keyring.Candidate

	pods      []corev1.Pod
	receivers reconcile.Receivers
	// uses are how often each secret was used, by short fingerprint; oldUse is what the rotations say of former secrets that
	// the provider still signs with.
	uses   map[string]int64
	oldUse []string

	deployment *appsv1.Deployment
	cronJob    *batchv1.CronJob

	// counts are to be written; nil if those in the status are to stay.
	counts *v1alpha1.DeliveriesStatus
}

func newPass(endpoint *v1alpha1.WebhookEndpoint, now time.Time) *pass {
	p := &pass{
		endpoint:   endpoint,
		now:        now,
		names:      render.NamesOf(endpoint.Name),
		conditions: reconcile.NewConditions(endpoint.Generation, endpoint.Status.Conditions),
		status:     *endpoint.Status.DeepCopy(),
	}
	p.status.Path = render.Path(endpoint)
	p.status.URL = render.PublicURL(endpoint)
	p.status.ServiceName = p.names.Receiver
	p.status.ObservedGeneration = endpoint.Generation
	return p
}

// key names the endpoint.
func (p *pass) key() client.ObjectKey { return client.ObjectKeyFromObject(p.endpoint) }

// report keeps a fault if it is worse than what was reported before.
func (p *pass) report(fault *reconcile.Fault) { p.fault = reconcile.Worse(p.fault, fault) }

// stop reports a fault that must be mended before anything is done. What is there is still looked at.
func (p *pass) stop(fault *reconcile.Fault) {
	p.report(fault)
	p.stopped = true
}

// judge turns what was read into conditions and status. What it reports first is what people hear of first.
func (p *pass) judge() {
	p.judgeSecrets()
	p.judgeOverlap()
	p.judgeDatabase()
	p.judgeReceivers()
	p.judgeRetention()
	p.judgeDeliveries()
}
