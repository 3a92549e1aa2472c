// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/render"
)

// judgeRetention says whether the ledger is pruned. It does not touch Ready: deliveries are served all the same.
func (p *pass) judgeRetention() {
	if p.cronJob == nil {
		return
	}
	status := p.cronJob.Status
	switch {
	case status.LastScheduleTime == nil && status.LastSuccessfulTime == nil:
		p.conditions.Unknown(v1alpha1.ConditionRetentionHealthy, v1alpha1.ReasonPruneNotRunYet, "The prune job has not run yet")
	case len(status.Active) > 0:
		// The run that is under way decides; until then the last finding stays.
		if p.conditions.Find(v1alpha1.ConditionRetentionHealthy) == nil {
			p.conditions.Unknown(v1alpha1.ConditionRetentionHealthy, v1alpha1.ReasonPruneNotRunYet, "The prune job runs for the first time")
		}
	case status.LastScheduleTime != nil &&
		(status.LastSuccessfulTime == nil || status.LastSuccessfulTime.Before(status.LastScheduleTime)):
		p.conditions.False(v1alpha1.ConditionRetentionHealthy, v1alpha1.ReasonPruneFailed,
			"The last prune job did not succeed: see kubectl logs -n %s -l %s=%s,%s=%s",
			p.endpoint.Namespace, render.LabelEndpoint, p.names.Label, render.LabelName, render.NamePrune)
	default:
		p.conditions.True(v1alpha1.ConditionRetentionHealthy, v1alpha1.ReasonPruneSucceeded, "The last prune job succeeded")
	}
}
