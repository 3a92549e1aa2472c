// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/receiver/retention"
)

func newPrune(log func() *slog.Logger) *cobra.Command {
	var flags ledgerFlags
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove what is past its retention from the ledger, and nothing that is unfinished",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := flags.load()
			if err != nil {
				return err
			}
			url, err := flags.url()
			if err != nil {
				return err
			}
			report, err := retention.Prune(cmd.Context(), retention.Options{
				URL: url, Schema: config.Schema, Endpoint: config.Endpoint, Horizon: receiverconfig.LeastClaims(config.Scheme),
				Claims: time.Duration(config.Retention.Claims), Payloads: time.Duration(config.Retention.Payloads),
				Attempts: time.Duration(config.Retention.Attempts), Failed: time.Duration(config.Retention.Failed),
			})
			attrs := []any{
				"claims", report.ClaimsRemoved, "effects", report.EffectsRemoved, "events", report.EventsRemoved,
				"attempts", report.AttemptsRemoved, "failed", report.FailedRemoved, "replays", report.ReplaysRemoved,
				"partitionsDropped", report.PartitionsDropped,
				"partitionsMade", report.PartitionsMade,
			}
			if err != nil {
				log().Error("Pruning stopped before its end", attrs...)
				return err
			}
			log().Info("Pruned", attrs...)
			return nil
		},
	}
	flags.add(cmd)
	return cmd
}
