// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// messageLimit bounds what is taken over from a receiver into the status, in bytes. The schema allows 256 for a failure.
const messageLimit = 250

// reasonPattern is what the reason of a condition may be.
var reasonPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,63}$`)

// judgeDatabase says whether the receivers reach Postgres, and whether it keeps what it acknowledges. The operator itself
// never asks a database.
func (p *pass) judgeDatabase() {
	var reports []receiverstatus.Database
	for _, receiver := range p.receivers.Answered() {
		if report := receiver.Status.Database; !report.Checked.IsZero() {
			reports = append(reports, report)
		}
	}
	if len(reports) == 0 {
		p.judgeUnreported()
		return
	}
	broken := slices.IndexFunc(reports, func(report receiverstatus.Database) bool { return !report.Reachable })
	if broken >= 0 {
		p.unreachable(reports[broken])
		return
	}
	message := "Receivers reach Postgres"
	// A receiver that goes on with the connection URI that it had says so here.
	if i := slices.IndexFunc(reports, func(report receiverstatus.Database) bool { return report.Message != "" }); i >= 0 {
		message += ": " + short(reports[i].Message)
	}
	p.conditions.True(v1alpha1.ConditionDatabaseReachable, v1alpha1.ReasonConnected, "%s", message)
	p.judgeDurability(reports)
}

// judgeUnreported looks, while no receiver reports, at what the migration says, which runs before a receiver starts.
func (p *pass) judgeUnreported() {
	if report, failed := migration(p.pods); failed {
		if report.Message == "" {
			report.Message = fmt.Sprintf("the init container %s fails, see kubectl logs -n %s deployment/%s -c %s",
				render.ContainerMigrate, p.endpoint.Namespace, p.names.Receiver, render.ContainerMigrate)
		}
		p.unreachable(report)
		return
	}
	message := "No receiver has reported"
	if migrating(p.pods) {
		message = fmt.Sprintf("The migration has not finished; what it waits for: kubectl logs -n %s deployment/%s -c %s",
			p.endpoint.Namespace, p.names.Receiver, render.ContainerMigrate)
	}
	p.conditions.Unknown(v1alpha1.ConditionDatabaseReachable, v1alpha1.ReasonDatabaseUnknown, "%s", message)
	p.conditions.Unknown(v1alpha1.ConditionDurabilityVerified, v1alpha1.ReasonDatabaseUnknown, "No receiver has reported")
}

func (p *pass) unreachable(report receiverstatus.Database) {
	reason := report.Reason
	if !reasonPattern.MatchString(reason) {
		reason = v1alpha1.ReasonDatabaseUnreachable
	}
	if reason == v1alpha1.ReasonSchemaTooNew {
		p.outdated(report)
		return
	}
	message := fmt.Sprintf("Postgres cannot be used (%s)", reason)
	if report.Message != "" {
		message += ": " + short(report.Message)
	}
	p.conditions.False(v1alpha1.ConditionDatabaseReachable, reason, "%s", message)
	p.report(reconcile.Waiting(v1alpha1.ReasonDatabaseUnreachable, 0, "%s", message))
}

// outdated says that the ledger was migrated by a later release than the receivers'. While they are being replaced those of
// the former release say so too, and it passes; once they have been, it stays until somebody runs the later release.
func (p *pass) outdated(report receiverstatus.Database) {
	message := "The ledger is newer than the receivers, which record nothing: run the release of Hookonce that migrated it"
	if report.Message != "" {
		message += ". Receivers say: " + short(report.Message)
	}
	p.conditions.False(v1alpha1.ConditionDatabaseReachable, v1alpha1.ReasonSchemaTooNew, "%s", message)
	if rolledOut(p.deployment, render.Replicas(p.endpoint)) {
		p.report(reconcile.Terminal(v1alpha1.ReasonSchemaTooNew, "%s", message))
		return
	}
	p.report(reconcile.Waiting(v1alpha1.ReasonSchemaTooNew, 0, "%s", message))
}

// judgeDurability says whether Postgres keeps what it acknowledges. It does not touch Ready: receivers work, with a promise
// that is only as good as the database's.
func (p *pass) judgeDurability(reports []receiverstatus.Database) {
	lax := slices.IndexFunc(reports, func(report receiverstatus.Database) bool { return !report.Durable })
	if lax < 0 {
		p.conditions.True(v1alpha1.ConditionDurabilityVerified, v1alpha1.ReasonDurable, "Postgres keeps what it acknowledges")
		return
	}
	settings := reports[lax].Settings
	var list []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		list = append(list, name+"="+settings[name])
	}
	p.conditions.False(v1alpha1.ConditionDurabilityVerified, v1alpha1.ReasonNotDurable,
		"Postgres may lose what it has acknowledged: %s", short(strings.Join(list, ", ")))
}

// migration returns what a failing migration left as its last words: a receiverstatus.Database as JSON, or nothing.
func migration(pods []corev1.Pod) (receiverstatus.Database, bool) {
	for i := range pods {
		for _, status := range pods[i].Status.InitContainerStatuses {
			ended := status.State.Terminated
			if ended == nil {
				ended = status.LastTerminationState.Terminated
			}
			if status.Name != render.ContainerMigrate || ended == nil || ended.ExitCode == 0 {
				continue
			}
			var report receiverstatus.Database
			if json.Unmarshal([]byte(ended.Message), &report) != nil {
				report = receiverstatus.Database{}
			}
			return report, true
		}
	}
	return receiverstatus.Database{}, false
}

// migrating says whether a migration is under way.
func migrating(pods []corev1.Pod) bool {
	for i := range pods {
		for _, status := range pods[i].Status.InitContainerStatuses {
			if status.Name == render.ContainerMigrate && status.State.Running != nil {
				return true
			}
		}
	}
	return false
}

// short cuts a text that comes from elsewhere.
func short(text string) string {
	if len(text) <= messageLimit {
		return text
	}
	return strings.ToValidUTF8(text[:messageLimit], "") + "..."
}
