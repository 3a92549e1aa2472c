// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/receiver/ledger"
)

// maxListed is how many deliveries are listed at most.
const maxListed = 10_000

// deliveriesFlags are the options of `receiver deliveries`.
type deliveriesFlags struct {
	lookFlags
	eventID, state, destination string
	limit                       int
}

func newDeliveries(std streams, log func() *slog.Logger) *cobra.Command {
	f := &deliveriesFlags{}
	cmd := &cobra.Command{
		Use:   "deliveries",
		Short: "List deliveries to destinations, or what became of one event",
		Long: "List deliveries to destinations, the latest first, or, with --event-id, what became of one event: the answer that the\n" +
			"provider got, the deliveries and each of their attempts.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, std.out, log()) },
	}
	f.add(cmd, "24h")
	flags := cmd.Flags()
	flags.StringVar(&f.eventID, "event-id", "", "the provider's id of one event; --since counts for nothing then")
	flags.StringVar(&f.state, "state", "", "only Pending, Failed or Delivered ones")
	flags.StringVar(&f.destination, "destination", "", "only to this destination")
	flags.IntVar(&f.limit, "limit", 50, "how many to list at most, up to 10000")
	return cmd
}

func (f *deliveriesFlags) run(cmd *cobra.Command, out io.Writer, log *slog.Logger) error {
	since, err := f.from(time.Now())
	if err != nil {
		return err
	}
	states := []string{"", ledger.StatePending, ledger.StateFailed, ledger.StateDelivered}
	switch {
	case !slices.Contains(states, f.state):
		return usagef("--state must be Pending, Failed or Delivered")
	case f.limit < 1 || f.limit > maxListed:
		return usagef("--limit must be from 1 to %d", maxListed)
	case f.eventID != "" && (f.state != "" || f.destination != ""):
		return usagef("--event-id shows all of one event: leave --state and --destination out")
	}
	l, _, err := f.open(cmd.Context(), log)
	if err != nil {
		return err
	}
	defer l.Close()
	if f.eventID != "" {
		history, err := l.History(cmd.Context(), f.eventID)
		if err != nil {
			return err
		}
		if f.output == "json" {
			return printJSON(out, history)
		}
		return printHistory(out, history)
	}
	deliveries, err := l.Deliveries(cmd.Context(), ledger.Filter{
		State: f.state, Destination: f.destination, Since: since, Limit: f.limit,
	})
	if err != nil {
		return err
	}
	if f.output == "json" {
		return printJSON(out, deliveries)
	}
	return printDeliveries(out, deliveries)
}

func printDeliveries(out io.Writer, deliveries []ledger.Delivery) error {
	if len(deliveries) == 0 {
		_, err := fmt.Fprintln(out, "No deliveries: look further back with --since")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "STATE\tDESTINATION\tEVENT-ID\tEVENT-TYPE\tATTEMPTS\tTIME\tANSWER")
	for i := range deliveries {
		d := &deliveries[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", d.State, d.Destination, shown(d.EventID), shown(d.EventType), d.Attempts,
			d.Time.Format(time.RFC3339), answer(d.StatusCode, d.Reason))
	}
	return w.Flush()
}

func printHistory(out io.Writer, h *ledger.History) error {
	fmt.Fprintf(out, "%s received %s, answered %d\n", shown(h.EventID), h.Received.Format(time.RFC3339), h.StatusCode)
	if h.PayloadKept {
		fmt.Fprintf(out, "type %s, resource %s\n", shown(h.EventType), shown(h.ResourceID))
	} else {
		fmt.Fprintln(out, "its payload is past its retention")
	}
	if h.Refused {
		fmt.Fprintln(out, "a function refused it")
	}
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		fmt.Fprintf(out, "\n%s to %s, Idempotency-Key %s\n", d.State, d.Destination, shown(d.IdempotencyKey))
		if err := printAttempts(out, d, h.Attempts); err != nil {
			return err
		}
	}
	return nil
}

// printAttempts prints a delivery's attempts. One that was replayed may have another id than before, and has the same key.
func printAttempts(out io.Writer, d *ledger.Delivery, attempts []ledger.Attempt) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for i := range attempts {
		a := &attempts[i]
		if a.Destination != d.Destination || a.IdempotencyKey != d.IdempotencyKey {
			continue
		}
		by := ""
		if a.Replay != "" {
			by = "replay " + shown(a.Replay)
		}
		fmt.Fprintf(w, "  %s\tattempt %d\t%s\t%s\t%s\t%s\n", a.Started.Format(time.RFC3339), a.Number, a.Outcome,
			a.Duration.Round(time.Millisecond), answer(a.StatusCode, a.Reason), by)
	}
	if d.State == ledger.StatePending {
		fmt.Fprintf(w, "  %s\tattempt %d\tdue\t\t\t\n", d.Time.Format(time.RFC3339), d.Attempts+1)
	}
	return w.Flush()
}

// answer is what a destination said, in a word or a reason.
func answer(status int, reason string) string {
	if reason == "" && status != 0 {
		return strconv.Itoa(status)
	}
	return shown(reason)
}

// shown is a text that came from elsewhere as a terminal may have it; a dash for none.
func shown(text string) string {
	if text == "" {
		return "-"
	}
	quoted := strconv.QuoteToASCII(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
