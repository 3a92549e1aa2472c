// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/replayrequest"
)

// replayAttempts is how often a replay's pod is made anew: each goes on where the one before was.
const replayAttempts = 10

// ReplayJobName returns the name of the Job that counts or sends the deliveries of a replay.
func ReplayJobName(replay string, send bool) string {
	suffix := "-count"
	if send {
		suffix = "-send"
	}
	return fit(replay, nameLimit-len(suffix)) + suffix
}

// ReplayRequest returns what a replay's Job is asked to do. The error says what of the object cannot be used.
func ReplayRequest(replay *v1alpha1.DeliveryReplay, requestedBy string, send bool) (*replayrequest.Request, error) {
	id, err := replayrequest.ParseID(string(replay.UID))
	if err != nil {
		return nil, fmt.Errorf("metadata.uid: %w", err)
	}
	selector := &replay.Spec.Selector
	request := &replayrequest.Request{
		Version: replayrequest.Version, ID: id, Name: replay.Name, RequestedBy: requestedBy, Reason: replay.Spec.Reason, Send: send,
		RatePerSecond: int(replay.Spec.RatePerSecond), StopAfterFailures: int(replay.Spec.StopAfterFailures),
		Selector: replayrequest.Selector{
			State: replayrequest.State(selector.State), Destination: selector.Destination, EventTypes: patterns(selector.EventTypes),
			EventIDs: selector.EventIDs, Reason: selector.FailureReason,
			ReceivedAfter: moment(selector.ReceivedAfter), ReceivedBefore: moment(selector.ReceivedBefore),
		},
	}
	if request.Selector.State == "" {
		request.Selector.State = replayrequest.Failed
	}
	return request, request.Validate()
}

// ReplayJob does what a request says, of an endpoint's ledger.
func ReplayJob(
	endpoint *v1alpha1.WebhookEndpoint, replay *v1alpha1.DeliveryReplay, request *replayrequest.Request, settings Settings,
) (*batchv1ac.JobApplyConfiguration, error) {
	document, err := request.Encode()
	if err != nil {
		return nil, err
	}
	labels := Labels(endpoint.Name, NameReplay)
	pod := podSpec(configSource(endpoint), databaseSource(endpoint)).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithContainers(container("replay", settings.Image, "replay",
			"--config-dir="+configFolder,
			"--database-dir="+databaseFolder,
			"--request="+string(document)).
			WithResources(requests("10m", "32Mi")).
			WithVolumeMounts(mount(configVolume, configFolder), mount(databaseVolume, databaseFolder)))
	return batchv1ac.Job(ReplayJobName(replay.Name, request.Send), replay.Namespace).
		WithLabels(labels).
		WithSpec(batchv1ac.JobSpec().
			WithBackoffLimit(replayAttempts).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(pod))), nil
}

func moment(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
