// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// readReceivers asks the receivers what they know.
func (r *Reconciler) readReceivers(ctx context.Context, p *pass) error {
	var err error
	p.pods, p.receivers, err = r.poller.Poll(ctx, p.endpoint.Namespace, render.ReceiverSelector(p.endpoint.Name))
	if err == nil {
		r.countUses(p)
	}
	return err
}

// judgeReceivers says whether enough receivers serve, and whether they do what the spec asks.
func (p *pass) judgeReceivers() {
	desired := render.Replicas(p.endpoint)
	ready := min(p.receivers.Ready().Count(), desired)
	p.status.Receivers = &v1alpha1.ReceiversStatus{
		Desired: desired,
		Ready:   ready,
		Summary: fmt.Sprintf("%d/%d", ready, desired),
	}
	if p.ring == nil {
		p.conditions.False(v1alpha1.ConditionReceiversAvailable, v1alpha1.ReasonProgressing,
			"Receivers run as soon as there is a signing secret")
		return
	}
	p.status.Receivers.Updated = min(p.receivers.Updated(p.ring), desired)
	if ready < desired {
		message := p.missingReceivers()
		p.conditions.False(v1alpha1.ConditionReceiversAvailable, v1alpha1.ReasonReceiversRollingOut, "%s", message)
		p.report(reconcile.Waiting(v1alpha1.ReasonProgressing, 0, "%s", message))
		return
	}
	p.conditions.True(v1alpha1.ConditionReceiversAvailable, v1alpha1.ReasonReceiversAvailable, "As many receivers serve as the spec asks for")
	if !rolledOut(p.deployment, desired) {
		p.report(reconcile.Waiting(v1alpha1.ReasonProgressing, 0, "%s", p.replacing()))
		return
	}
	p.judgeConfig()
}

// replacing says that new receivers take the place of old ones, which serve meanwhile, and what keeps the new ones.
func (p *pass) replacing() string {
	const message = "Receivers are being replaced by new ones; deliveries are served meanwhile"
	if report, failed := migration(p.pods); failed && report.Message != "" {
		return fmt.Sprintf("%s. The migration of the new ones fails: %s", message, short(report.Message))
	}
	if obstacle := obstacle(p.pods); obstacle != "" {
		return fmt.Sprintf("%s. What keeps the new ones: %s", message, obstacle)
	}
	if migrating(p.pods) {
		return fmt.Sprintf("%s. What keeps the new ones: %s", message, p.migrating())
	}
	return message
}

// missingReceivers says why there are too few.
func (p *pass) missingReceivers() string {
	if obstacle := obstacle(p.pods); obstacle != "" {
		return "Fewer receivers are ready than the spec asks for: " + obstacle
	}
	if migrating(p.pods) {
		return "Fewer receivers are ready than the spec asks for: " + p.migrating()
	}
	if p.deployment != nil {
		for _, condition := range p.deployment.Status.Conditions {
			if condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse {
				return fmt.Sprintf("Receivers do not become ready: see kubectl describe pods -n %s -l %s=%s",
					p.endpoint.Namespace, render.LabelEndpoint, p.names.Label)
			}
		}
	}
	return "Fewer receivers are ready than the spec asks for"
}

// migrating says that a migration is under way, which takes long only if Postgres cannot be used.
func (p *pass) migrating() string {
	return fmt.Sprintf("container %s is running: it waits for Postgres if this lasts, see kubectl logs -n %s -l %s=%s,%s=%s -c %s",
		render.ContainerMigrate, p.endpoint.Namespace,
		render.LabelEndpoint, p.names.Label, render.LabelName, render.NameReceiver, render.ContainerMigrate)
}

// obstacle is what keeps containers from starting, if something does: an image that cannot be had, a Secret that is not
// there, no node that would take the pod. The pods' names change with every try, so they are not in it.
func obstacle(pods []corev1.Pod) string {
	for i := range pods {
		status := pods[i].Status
		for _, container := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
			waiting := container.State.Waiting
			if waiting == nil || waiting.Reason == "PodInitializing" || waiting.Reason == "ContainerCreating" {
				continue
			}
			if kind := obstacles[waiting.Reason]; kind != "" {
				return fmt.Sprintf("container %s: %s", container.Name, kind)
			}
			return fmt.Sprintf("container %s: %s", container.Name, waiting.Reason)
		}
		for _, condition := range status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				return "no node takes the pods: " + short(condition.Message)
			}
		}
	}
	return ""
}

// obstacles says the kubelet's words for trouble with one sentence each, where they come in pairs that follow each other.
var obstacles = map[string]string{
	"ErrImagePull":     "its image cannot be pulled",
	"ImagePullBackOff": "its image cannot be pulled",
}

// rolledOut says whether every pod of the Deployment is of its newest template.
func rolledOut(deployment *appsv1.Deployment, desired int32) bool {
	if deployment == nil || deployment.Status.ObservedGeneration < deployment.Generation {
		return false
	}
	status := deployment.Status
	return status.UpdatedReplicas >= desired && status.Replicas == status.UpdatedReplicas
}

// judgeConfig says whether every receiver runs what the spec asks: a mounted file reaches a pod after up to two minutes.
func (p *pass) judgeConfig() {
	if p.document == nil {
		return
	}
	answered := p.receivers.Ready().Answered()
	if len(answered) == 0 {
		p.report(reconcile.Waiting(v1alpha1.ReasonDatabaseUnknown, 0,
			"No receiver answers the operator on its private port: check the NetworkPolicies between them"))
		return
	}
	if silent := len(p.receivers.Ready()) > len(answered); silent && !p.conditions.Holds(v1alpha1.ConditionReady) {
		// It is not known that they run what this spec asks; once they did, an answer that is late takes nothing back.
		p.report(reconcile.Waiting(v1alpha1.ReasonProgressing, 0, "Not every receiver has said yet which configuration it runs"))
		return
	}
	want := receiverconfig.Digest(p.document)
	for _, receiver := range answered {
		config := receiver.Status.Config
		switch {
		case config.Digest == want && config.Error == "":
		case config.Error != "":
			p.report(reconcile.Waiting(v1alpha1.ReasonConfigRefused, 0, "Receivers cannot use the configuration: %s", short(config.Error)))
			return
		default:
			p.report(reconcile.Waiting(v1alpha1.ReasonProgressing, 0, "Receivers are loading the changed configuration"))
			return
		}
	}
}
