// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

const (
	// pruneDeadlineSeconds ends a run that hangs, before the next one of an hourly schedule.
	pruneDeadlineSeconds = 3000
	// pruneStartSeconds is how late a run may start after the controller was away. More than 100 missed starts would stop
	// the schedule for good without it.
	pruneStartSeconds = 3600
	pruneAttempts     = 2
)

// CronJob prunes the endpoint's ledger.
func CronJob(endpoint *v1alpha1.WebhookEndpoint, settings Settings) *batchv1ac.CronJobApplyConfiguration {
	schedule := endpoint.Spec.Retention.Schedule
	if schedule == "" {
		schedule = defaultSchedule
	}
	labels := Labels(endpoint.Name, NamePrune)
	return batchv1ac.CronJob(NamesOf(endpoint.Name).Prune, endpoint.Namespace).
		WithLabels(labels).
		WithSpec(batchv1ac.CronJobSpec().
			WithSchedule(schedule).
			WithTimeZone("Etc/UTC").
			WithConcurrencyPolicy(batchv1.ForbidConcurrent).
			WithStartingDeadlineSeconds(pruneStartSeconds).
			WithSuccessfulJobsHistoryLimit(1).
			WithFailedJobsHistoryLimit(1).
			WithJobTemplate(batchv1ac.JobTemplateSpec().
				WithLabels(labels).
				WithSpec(batchv1ac.JobSpec().
					WithActiveDeadlineSeconds(pruneDeadlineSeconds).
					WithBackoffLimit(pruneAttempts).
					WithTemplate(corev1ac.PodTemplateSpec().
						WithLabels(labels).
						WithSpec(prunePod(endpoint, settings))))))
}

func prunePod(endpoint *v1alpha1.WebhookEndpoint, settings Settings) *corev1ac.PodSpecApplyConfiguration {
	return podSpec(configSource(endpoint), databaseSource(endpoint)).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithContainers(container("prune", settings.Image, "prune",
			"--config-dir="+configFolder,
			"--database-dir="+databaseFolder).
			WithResources(requests("10m", "32Mi")).
			WithVolumeMounts(mount(configVolume, configFolder), mount(databaseVolume, databaseFolder)))
}
