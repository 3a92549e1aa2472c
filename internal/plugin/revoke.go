// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

const revokeExample = `  # the current secret has leaked, and Secret paymos-2026-q5 holds a new one
  kubectl hookonce revoke payments --secret paymos-2026-q5 -n shop --apply --wait --reason "INC-4711"

  # the secret before the current one has leaked: name the Secret with the current one
  kubectl hookonce revoke payments --secret paymos-2026-q4 -n shop --apply --wait`

// newRevoke returns the command that writes a SecretRotation that revokes the secret that it replaces.
func newRevoke(env Environment, cluster *connection) *cobra.Command {
	flags := &rotationFlags{}
	cmd := &cobra.Command{
		Use:   "revoke ENDPOINT --secret NAME[/KEY]",
		Short: "Write the SecretRotation to a new signing secret that revokes the former one, for one that has leaked",
		Long: "Write the SecretRotation that makes the secret in another Secret current, and that revokes the one before it as soon as every " +
			"receiver accepts the new one: it is refused from then on, and cannot come back. If the Secret holds the current secret already, it " +
			"is the one before that which is revoked. Not to be taken back.",
		Example: revokeExample,
		Args:    oneEndpoint,
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := flags.request(args[0], cluster.named())
			if err != nil {
				return err
			}
			asked.revoke = true
			// Nobody's other opinion of a leaked secret is worth a refusal; the API lets nobody take a revocation back.
			run := ask{env: env, cluster: cluster, flags: flags, condition: v1alpha1.ConditionPreviousRetired, force: true}
			return run.run(cmd.Context(), asked)
		},
	}
	flags.add(cmd, v1alpha1.ConditionPreviousRetired, 10*time.Minute)
	return cmd
}
