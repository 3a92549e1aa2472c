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
				URL: url, Schema: config.Schema, Endpoint: config.Endpoint, Horizon: horizon(config),
				Claims: time.Duration(config.Retention.Claims), Payloads: time.Duration(config.Retention.Payloads),
			})
			attrs := []any{
				"claims", report.ClaimsRemoved, "effects", report.EffectsRemoved, "events", report.EventsRemoved,
				"attempts", report.AttemptsRemoved, "partitionsDropped", report.PartitionsDropped,
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

// longestOverlap is how long two secrets may be accepted at most during a rotation, as the kinds allow it.
const longestOverlap = 168 * time.Hour

// horizon is how long after it was first sent an event may still be accepted: as long as the provider retries, as long as
// a secret that it was signed with may be accepted after it has been changed, and what its clock and ours may differ by.
func horizon(config *receiverconfig.Config) time.Duration {
	return config.Scheme.Behavior.RetryHorizon + longestOverlap + 2*time.Duration(config.Tolerance)
}
