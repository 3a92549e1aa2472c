// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/prove"
)

// proveFlags are what `receiver prove` was asked for.
type proveFlags struct {
	sendFlags

	endpoint, staging         string
	ledgerIDs, ledgerCommand  string
	databaseURL, beforeReplay string
	copies, rounds, attempts  int
	replayAfter, settle       time.Duration
	anyAnswer                 bool
}

const proveExample = `  # an endpoint of ours, whose ledger is asked
  receiver prove --url https://hooks.staging.example.com/webhooks/payments --confirm-staging hooks.staging.example.com \
    --endpoint endpoint.yaml --secret-file ./secret --event-type invoice.paid --database-url "$STAGING_DATABASE"

  # anybody's endpoint: what it did is read from its own tables
  receiver prove --url http://localhost:3000/hooks --confirm-staging localhost --scheme Stripe --secret-file ./secret \
    --body-template invoice.json --ledger-command "psql -At -c 'select event_id, count(*) from orders group by 1'"`

func newProve(std streams, log func() *slog.Logger) *cobra.Command {
	f := &proveFlags{}
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "Prove that a staging endpoint has the effect of each event exactly once",
		Long: "Send signed events to a staging endpoint, ours or not: once; again; many copies at once, while the first is open; later,\n" +
			"as a redelivery; and compare what the endpoint recorded. Prints a verdict on each. Exits with 0 if all hold, 1 if not, and\n" +
			"2 if nothing was proven. The events are made up, and the endpoint takes them for real: never do this to production.",
		Example: proveExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkAll(); err != nil {
				return err
			}
			return f.run(cmd.Context(), std, log)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *proveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "where to send (required)")
	flags.StringVar(&f.staging, "confirm-staging", "",
		"the host of --url, written once more: it says that you know that made-up events are sent there, "+
			"and that it is not production (required)")
	flags.StringVar(&f.scheme, "scheme", "", "scheme to sign with: "+strings.Join(scheme.Names(), ", "))
	flags.StringVar(&f.endpoint, "endpoint", "", "file with the WebhookEndpoint, or with a receiver's config.json, instead of --scheme")
	flags.StringArrayVar(&f.secretFiles, "secret-file", nil, "file with a signing secret; with several, all sign in one header (required)")
	flags.StringVar(&f.publicURL, "public-url", "",
		"URL that the provider was given, for schemes that sign it (default: the endpoint's, or --url)")
	flags.StringVar(&f.eventType, "event-type", "", "event type, if the effect depends on it")
	flags.StringVar(&f.bodyTemplate, "body-template", "",
		"file with the body, in which {event_id}, {event_type} and {resource_id} are replaced (default: a JSON object with the ids)")
	flags.StringArrayVar(&f.headers, "header", nil, "name=value of a further header; may be repeated")
	flags.StringVar(&f.ledgerCommand, "ledger-command", "",
		"shell command that prints what the endpoint recorded: event or resource ids, "+
			"each as often as it was recorded, or with a number behind it")
	flags.StringVar(&f.ledgerIDs, "ledger-ids", "", "file with the same list, read at the end; - for standard input")
	flags.StringVar(&f.databaseURL, "database-url", "", "connection URI of the ledger, for endpoints of ours; needs --endpoint")
	flags.StringVar(&f.beforeReplay, "before-replay", "", "shell command to run before the replay, such as a restart of the endpoint")
	flags.IntVar(&f.copies, "copies", 20, "copies of one event that are sent at once")
	flags.IntVar(&f.rounds, "rounds", 5, "how often copies are sent at once, each time of another event")
	flags.IntVar(&f.attempts, "attempts", 10, "attempts for each delivery that is not answered with 2xx")
	flags.DurationVar(&f.replayAfter, "replay-after", 3*time.Second, "how long to wait before the replay")
	flags.DurationVar(&f.settle, "settle", 3*time.Second, "how long to wait before what the endpoint recorded is read at the end")
	flags.BoolVar(&f.anyAnswer, "any-answer", false, "take different answers to one event for right, and look at its effects only")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait for an answer")
	flags.StringVarP(&f.output, "output", "o", "text", "text or json")
}

func (f *proveFlags) checkAll() error {
	target, err := url.Parse(f.url)
	if err != nil || target.Host == "" {
		return usagef("--url is required, and must be absolute")
	}
	ledgers := 0
	for _, given := range []string{f.ledgerCommand, f.ledgerIDs, f.databaseURL} {
		if given != "" {
			ledgers++
		}
	}
	switch {
	case f.staging != target.Host && f.staging != target.Hostname():
		return usagef("this sends made-up events to %s, which takes them for real: "+
			"if it is not production, say so with --confirm-staging %s", target.Hostname(), target.Hostname())
	case (f.scheme == "") == (f.endpoint == ""):
		return usagef("one of --scheme and --endpoint is required")
	case len(f.secretFiles) == 0:
		return usagef("--secret-file is required")
	case ledgers != 1:
		return usagef("one of --ledger-command, --ledger-ids and --database-url is required: " +
			"answers alone do not show how often an event had its effect")
	case f.databaseURL != "" && f.endpoint == "":
		return usagef("--database-url needs --endpoint, which names the endpoint in the ledger")
	case f.copies < 2 || f.rounds < 1 || f.attempts < 1:
		return usagef("--copies must be at least 2, --rounds and --attempts at least 1")
	case f.output != "text" && f.output != "json":
		return usagef("--output %q is neither text nor json", f.output)
	}
	return nil
}

func (f *proveFlags) run(ctx context.Context, std streams, log func() *slog.Logger) error {
	maker, err := f.maker()
	if err != nil {
		return usageError{err}
	}
	ledger, done, err := f.ledger(ctx, std, maker, log)
	if err != nil {
		return usageError{err}
	}
	defer done()
	options := prove.Options{
		NewEvent: maker.next, Client: f.client(), Ledger: ledger, Copies: f.copies, Rounds: f.rounds, Attempts: f.attempts,
		RetryDelay: 500 * time.Millisecond, ReplayAfter: f.replayAfter, Settle: f.settle, AnyAnswer: f.anyAnswer, Now: time.Now,
	}
	if f.beforeReplay != "" {
		options.BeforeReplay = func(ctx context.Context) error {
			_, err := shell(ctx, f.beforeReplay, std.err)
			return err
		}
	}
	if f.output == "text" {
		options.Progress = func(text string) { fmt.Fprintf(std.err, "%s ...\n", text) }
	}
	report, err := prove.Run(ctx, options)
	if err != nil {
		return usageError{fmt.Errorf("nothing was proven: %w", err)}
	}
	if err := f.print(std.out, report); err != nil {
		return err
	}
	if !report.Holds {
		return errors.New("not proven: the endpoint does not have the effect of each event exactly once")
	}
	return nil
}

// client opens a connection for each copy and follows no redirect.
func (f *proveFlags) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: nil, MaxIdleConnsPerHost: f.copies, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		},
		Timeout:       f.timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (f *proveFlags) print(out io.Writer, report prove.Report) error {
	if f.output == "json" {
		return printJSON(out, report)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tSTEP\tVERDICT\tDETAIL")
	for i, step := range report.Steps {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", i+1, step.Name, step.Verdict, step.Detail)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the verdicts: %w", err)
	}
	return nil
}
