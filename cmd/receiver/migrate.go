// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/sqlfile"
	"github.com/hookonce/hookonce/receiver/database"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// migratePause between two tries to reach the database.
const migratePause = 2 * time.Second

func newMigrate(log func() *slog.Logger) *cobra.Command {
	var (
		flags  ledgerFlags
		wait   time.Duration
		report string
	)
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the ledger's schema to the version of this build",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := flags.load()
			if err != nil {
				return err
			}
			migrate := func(ctx context.Context) error {
				url, err := flags.url()
				if err != nil {
					return err
				}
				return ledger.Migrate(ctx, url, config.Schema)
			}
			if err := retryMigrate(cmd.Context(), migrate, wait, log()); err != nil {
				return errors.Join(err, writeReport(report, err, time.Now()))
			}
			log().Info("The ledger's schema is up to date", "schema", config.Schema)
			return nil
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&report, "report", "", "file to write a failure to, as the database part of the status document")
	cmd.Flags().DurationVar(&wait, "wait", 2*time.Minute, "how long to wait for a database that cannot be reached")
	return cmd
}

// writeReport says, where the operator can read it, why the database cannot be used: no receiver serves a status yet.
func writeReport(file string, cause error, now time.Time) error {
	if file == "" {
		return nil
	}
	failure := receiverstatus.Database{Checked: now.UTC()}
	failure.Reason, failure.Message = ledger.Explain(cause)
	document, err := json.Marshal(failure)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.WriteFile(file, document, 0o600); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// retryMigrate tries again for so long, unless the error is one that waiting does not change.
func retryMigrate(ctx context.Context, migrate func(context.Context) error, wait time.Duration, log *slog.Logger) error {
	deadline := time.Now().Add(wait)
	for {
		err := migrate(ctx)
		if err == nil || lasting(err) || time.Now().Add(migratePause).After(deadline) {
			return err
		}
		log.Warn("The ledger's schema cannot be migrated yet", "retryIn", migratePause, "error", err)
		select {
		case <-time.After(migratePause):
		case <-ctx.Done():
			return fmt.Errorf("migrate: %w", errors.Join(ctx.Err(), err))
		}
	}
}

func lasting(err error) bool {
	var tooNew *ledger.SchemaTooNewError
	var name *sqlfile.InvalidNameError
	return errors.As(err, &tooNew) || errors.As(err, &name) || errors.Is(err, ledger.ErrEncoding) ||
		errors.Is(err, database.ErrURI) || errors.Is(err, database.ErrURIFile) || errors.Is(err, database.ErrSimpleProtocol)
}
