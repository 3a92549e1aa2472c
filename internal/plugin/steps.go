// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// waitSlack is what a wait for the end of an overlap allows beyond it.
const waitSlack = time.Hour

// steps are what is to be done with a rotation, in order. line says that the endpoint has yet to name the Secret, applied
// that the rotation is in the cluster, and reached which condition was waited for.
func steps(asked *request, line, applied bool, reached string) []string {
	var out []string
	if !applied {
		out = append(out, fmt.Sprintf("Commit this manifest, and Secret %s with it if it is not in Git yet.", asked.secret.Name))
	}
	out = append(out, propagation(asked, reached)...)
	if line {
		out = append(out, fmt.Sprintf("In WebhookEndpoint %s, set spec.verification.secretRef to {name: %s, key: %s}%s.",
			asked.endpoint, asked.secret.Name, asked.secret.Key, rotatesNothing(asked)))
	}
	if reached != v1alpha1.ConditionPreviousRetired {
		limit := 5 * time.Minute
		if !asked.revoke {
			limit = asked.longest() + waitSlack
		}
		out = append(out, fmt.Sprintf("Wait until the former secret is gone: %s", asked.waitCommand(v1alpha1.ConditionPreviousRetired, limit)))
	}
	if applied {
		return append(out, "If the cluster is made from Git, commit the manifest too: the same command without --apply prints it.")
	}
	return append(out, "Then take the SecretRotation out of Git; the Secret stays.")
}

// propagation are the steps around the provider's switch.
func propagation(asked *request, reached string) []string {
	const wait = "Wait until every receiver accepts the new secret: "
	command := asked.waitCommand(v1alpha1.ConditionPropagated, 10*time.Minute)
	var out []string
	if reached == "" {
		out = append(out, wait+command)
	}
	if asked.revoke {
		return append(out, "Let the provider sign with the new secret at once: from that moment on what it signs with the former one is "+
			"refused, and is accepted only if it comes again with the new one.")
	}
	until := fmt.Sprintf("the former one is accepted for %s longer", asked.overlap)
	if asked.retire == v1alpha1.RetireWhenUnused {
		until += ", and on while it is used"
	}
	return append(out, fmt.Sprintf("Let the provider sign with the new secret: %s.", until))
}

// rotatesNothing is said of the line in the endpoint. With a revocation it must not come too early either: if the operator saw
// it first, it would rotate without revoking.
func rotatesNothing(asked *request) string {
	if asked.revoke {
		return ", after the manifest and not in the same commit"
	}
	return "; it rotates nothing"
}

// longest is for how long the former secret may be accepted.
func (r *request) longest() time.Duration {
	// Both were parsed when the command line was read.
	overlap, _ := r.overlap.Parse()
	if r.retire != v1alpha1.RetireWhenUnused {
		return overlap
	}
	if longest, _ := r.maxOverlap.Parse(); longest > 0 {
		return longest
	}
	return longestOverlap
}

// waitCommand is the kubectl command that waits for a condition of the rotation.
func (r *request) waitCommand(condition string, limit time.Duration) string {
	namespace := ""
	if r.namespace != "" {
		namespace = " -n " + r.namespace
	}
	text := strings.TrimSuffix(strings.TrimSuffix(limit.String(), "0s"), "h0m")
	if strings.HasSuffix(limit.String(), "h0m0s") {
		text += "h"
	}
	return fmt.Sprintf("kubectl wait srot/%s%s --for=condition=%s --timeout=%s", r.rotationName(), namespace, condition, text)
}
