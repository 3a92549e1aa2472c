// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/receiver/ledger"
)

// lookFlags are those of commands that people look into the ledger with.
type lookFlags struct {
	ledgerFlags
	since  string
	output string
}

func (f *lookFlags) add(cmd *cobra.Command, since string) {
	f.ledgerFlags.add(cmd)
	cmd.Flags().StringVar(&f.since, "since", since, "how far back to look: a duration such as 90m, 24h or 30d, or all")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
}

// from is the moment that --since means; zero for all.
func (f *lookFlags) from(now time.Time) (time.Time, error) {
	if f.output != "text" && f.output != "json" {
		return time.Time{}, usagef("--output must be text or json")
	}
	if f.since == "all" {
		return time.Time{}, nil
	}
	if days, found := cutDays(f.since); found {
		return now.AddDate(0, 0, -days), nil
	}
	back, err := time.ParseDuration(f.since)
	if err != nil || back <= 0 {
		return time.Time{}, usagef("--since must be a duration such as 90m, 24h or 30d, or all")
	}
	return now.Add(-back), nil
}

// cutDays reads a number of days, such as 30d.
func cutDays(text string) (int, bool) {
	if len(text) < 2 || text[len(text)-1] != 'd' {
		return 0, false
	}
	days, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	return int(days), err == nil && days > 0
}

// open opens the ledger for one question.
func (f *lookFlags) open(ctx context.Context, log *slog.Logger) (*ledger.Ledger, string, error) {
	config, err := f.load()
	if err != nil {
		return nil, "", err
	}
	l, err := ledger.Open(ctx, ledger.Options{
		URL: f.url, Schema: config.Schema, Endpoint: config.Endpoint, MaxConns: 1, Logger: log,
	})
	return l, config.Endpoint, err
}

func newAudit(std streams, log func() *slog.Logger) *cobra.Command {
	f := &lookFlags{}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Say how many deliveries came, how many of them were duplicates, and whether one was processed twice",
		Long: "Say how many deliveries came, how many of them were duplicates, and whether one was processed twice.\n" +
			"Counts are kept by the minute for 48 hours, and by the day (UTC) for 400 days.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			since, err := f.from(now)
			if err != nil {
				return err
			}
			l, endpoint, err := f.open(cmd.Context(), log())
			if err != nil {
				return err
			}
			defer l.Close()
			audit, err := l.Audit(cmd.Context(), now, since)
			if err != nil {
				return err
			}
			if f.output == "json" {
				return printJSON(std.out, audit)
			}
			return printAudit(std.out, endpoint, audit)
		},
	}
	f.add(cmd, "24h")
	return cmd
}

func printAudit(out io.Writer, endpoint string, a *ledger.Audit) error {
	period := "since the ledger's beginning"
	if !a.Since.IsZero() {
		period = "since " + a.Since.Format(time.RFC3339)
	}
	share := 0.0
	if a.Received > 0 {
		share = 100 * float64(a.Duplicates) / float64(a.Received)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "%s %s\n", endpoint, period)
	for _, line := range []struct {
		n    int64
		text string
	}{
		{a.Received, "events received, in requests whose signature held"},
		{a.Events, "distinct event ids"},
		{a.Duplicates, fmt.Sprintf("duplicate deliveries (%.1f %%)", share)},
		{a.Conflicts, "conflicts: a known id with another body, answered 422"},
		{a.Rejected, "requests rejected for another reason"},
		{a.Double, "events processed twice, of those whose payloads are kept"},
	} {
		fmt.Fprintf(w, "%d\t  %s\n", line.n, line.text)
	}
	return w.Flush()
}
