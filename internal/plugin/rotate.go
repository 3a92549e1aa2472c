// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

const rotateExample = `  # for Git: writes the manifest, and says what to do with it
  kubectl hookonce rotate payments --secret paymos-2026-q4 -n shop > rotation.yaml

  # at once, and come back when every receiver accepts the new secret
  kubectl hookonce rotate payments --secret paymos-2026-q4 -n shop --apply --wait`

// newRotate returns the command that writes a SecretRotation with an overlap.
func newRotate(env Environment, cluster *connection) *cobra.Command {
	flags := &rotationFlags{}
	overlap, longest, retire := "24h", "", string(v1alpha1.RetireAtDeadline)
	force := false
	cmd := &cobra.Command{
		Use:   "rotate ENDPOINT --secret NAME[/KEY]",
		Short: "Write the SecretRotation to a new signing secret; the former one stays accepted for the overlap",
		Long: "Write the SecretRotation that makes the secret in another Secret current. It goes to the standard output, for Git; what was " +
			"checked and what to do next goes to the standard error. With --apply it is applied on the server instead.",
		Example: rotateExample,
		Args:    oneEndpoint,
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := flags.request(args[0], cluster.named())
			if err != nil {
				return err
			}
			if err := asked.overlapping(overlap, retire, longest); err != nil {
				return err
			}
			run := ask{env: env, cluster: cluster, flags: flags, condition: v1alpha1.ConditionPropagated, force: force}
			return run.run(cmd.Context(), asked)
		},
	}
	flags.add(cmd, v1alpha1.ConditionPropagated, 10*time.Minute)
	cmd.Flags().StringVar(&overlap, "overlap", overlap,
		"how long the former secret stays accepted after every receiver has the new one: 0s to 168h")
	cmd.Flags().StringVar(&retire, "retire", retire, "AtDeadline, or WhenUnused to keep the former secret while the provider signs with it")
	cmd.Flags().StringVar(&longest, "max-overlap", longest,
		"with --retire WhenUnused: how long the former secret is kept at most; default 168h")
	cmd.Flags().BoolVar(&force, "force-conflicts", force,
		"with --apply: take over what somebody else has set in a SecretRotation of that name")
	return cmd
}

// overlapping takes in the flags that only a rotation with an overlap has.
func (r *request) overlapping(overlap, retire, longest string) error {
	length, err := parseOverlap("overlap", overlap)
	if err != nil {
		return err
	}
	r.overlap = v1alpha1.Duration(overlap)
	switch v1alpha1.Retire(retire) {
	case v1alpha1.RetireAtDeadline:
		if longest != "" {
			return usagef("--max-overlap is for --retire WhenUnused: add that, or leave it out")
		}
		return nil
	case v1alpha1.RetireWhenUnused:
		r.retire = v1alpha1.RetireWhenUnused
	default:
		return usagef("--retire %q: write AtDeadline or WhenUnused", retire)
	}
	if longest == "" {
		return nil
	}
	most, err := parseOverlap("max-overlap", longest)
	if err != nil {
		return err
	}
	if most < length {
		return usagef("--max-overlap %s is shorter than --overlap %s: make it at least as long, or leave it out", longest, overlap)
	}
	r.maxOverlap = v1alpha1.Duration(longest)
	return nil
}
