// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/receiver/ledger"
)

func newReplay(log func() *slog.Logger) *cobra.Command {
	var (
		flags     ledgerFlags
		failed    bool
		selection ledger.Selection
	)
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Put failed deliveries back into the outbox",
		Long: "Put failed deliveries back into the outbox, with the idempotency keys that they had and a fresh ladder.\n" +
			"The endpoint's receivers deliver them.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !failed {
				return usagef("--failed is required: failed deliveries are all that can be replayed")
			}
			config, err := flags.load()
			if err != nil {
				return err
			}
			n, err := replay(cmd.Context(), &flags, config, selection, log())
			if err != nil {
				return fmt.Errorf("replay failed deliveries (%d were put back): %w", n, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d failed deliveries put back into the outbox\n", n)
			return nil
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&failed, "failed", false, "replay deliveries that ran out of attempts (required)")
	cmd.Flags().StringVar(&selection.Destination, "destination", "", "only to this destination")
	cmd.Flags().StringVar(&selection.EventID, "event-id", "", "only of this event")
	return cmd
}

func replay(
	ctx context.Context, flags *ledgerFlags, config *receiverconfig.Config, selection ledger.Selection, log *slog.Logger,
) (int64, error) {
	l, err := ledger.Open(ctx, ledger.Options{
		URL: flags.url, Schema: config.Schema, Endpoint: config.Endpoint, MaxConns: 1, Logger: log,
	})
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.ReplayFailed(ctx, selection)
}
