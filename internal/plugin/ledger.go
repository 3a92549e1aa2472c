// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookonce/hookonce/internal/render"
)

// newDeliveries returns the command that lists deliveries, and shows what became of one event.
func newDeliveries(env Environment, cluster *connection) *cobra.Command {
	cmd := inReceiver(env, cluster, "deliveries", "List deliveries to destinations, or what became of one event")
	cmd.Long = "List deliveries to destinations, the latest first, or, with --event-id, what became of one event: the answer that the " +
		"provider got, the deliveries and each of their attempts. It runs `receiver deliveries` in a receiver's pod."
	cmd.Example = `  # what failed in the last week
  kubectl hookonce deliveries payments -n shop --state Failed --since 7d

  # one event, by the provider's id
  kubectl hookonce deliveries payments -n shop --event-id evt_1K9x`
	flags := cmd.Flags()
	flags.String("event-id", "", "the provider's id of one event")
	flags.String("state", "", "only Pending, Failed or Delivered ones")
	flags.String("destination", "", "only to this destination")
	flags.Int("limit", 50, "how many to list at most, up to 10000")
	return cmd
}

// newAudit returns the command that counts what came.
func newAudit(env Environment, cluster *connection) *cobra.Command {
	cmd := inReceiver(env, cluster, "audit", "Say how many deliveries came, how many were duplicates, and whether one was processed twice")
	cmd.Example = `  kubectl hookonce audit payments -n shop --since 30d`
	return cmd
}

// inReceiver returns a command that runs the receiver's command of the same name, with the flags that were given, where that
// reaches the ledger.
func inReceiver(env Environment, cluster *connection, name, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name + " ENDPOINT",
		Short: short,
		Args:  oneEndpoint,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInReceiver(cmd.Context(), env, cluster, args[0], render.LedgerCommand(name, given(cmd)...))
		},
	}
	cmd.Flags().String("since", "24h", "how far back to look: a duration such as 90m, 24h or 30d, or all")
	cmd.Flags().StringP("output", "o", "text", "text or json")
	return cmd
}

// given are the command's own flags that the command line has, as one argument each: no value can be taken for a flag.
func given(cmd *cobra.Command) []string {
	var args []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	return args
}

func runInReceiver(ctx context.Context, env Environment, connection *connection, endpoint string, command []string) error {
	opened, err := connection.open()
	if err != nil {
		return err
	}
	if _, err := opened.endpoint(ctx, endpoint); err != nil {
		return err
	}
	pod, err := opened.receiver(ctx, endpoint)
	if err != nil {
		return err
	}
	return opened.run(ctx, pod, command, env.Out)
}
