// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// replayBatch is how many deliveries one transaction puts back into the outbox.
const replayBatch = 500

// replayFlags are the options of `receiver replay`.
type replayFlags struct {
	ledgerFlags
	failed               bool
	destination, eventID string
	reason, request      string
}

func newReplay(log func() *slog.Logger) *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Put deliveries back into the outbox",
		Long: "Put deliveries back into the outbox, with the idempotency keys that they had and a fresh ladder.\n" +
			"The endpoint's receivers deliver them. What was chosen, who wanted it and why stays in the ledger's table replay.\n" +
			"With --request, which the operator's Jobs use, a replay that was cut short is gone on with.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			request, err := f.requested()
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), request, cmd.OutOrStdout(), log())
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.failed, "failed", false, "replay deliveries that ran out of attempts (required without --request)")
	flags.StringVar(&f.destination, "destination", "", "only to this destination")
	flags.StringVar(&f.eventID, "event-id", "", "only of this event")
	flags.StringVar(&f.reason, "reason", "", "why, for the audit")
	flags.StringVar(&f.request, "request", "", "what to replay, as a document in JSON; instead of the flags above")
	return cmd
}

// requested is the replay that the flags ask for.
func (f *replayFlags) requested() (*replayrequest.Request, error) {
	if f.request != "" {
		if f.failed || f.destination != "" || f.eventID != "" || f.reason != "" {
			return nil, usagef("--request says everything: leave --failed, --destination, --event-id and --reason out")
		}
		request, err := replayrequest.Parse([]byte(f.request))
		if err != nil {
			return nil, usagef("--request: %v", err)
		}
		return request, nil
	}
	if !f.failed {
		return nil, usagef("--failed is required: failed deliveries are all that can be replayed without --request")
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	request := &replayrequest.Request{
		ID: id, Name: "receiver replay", Reason: f.reason, Send: true,
		Selector: replayrequest.Selector{State: replayrequest.Failed, Destination: f.destination},
	}
	if f.eventID != "" {
		request.Selector.EventIDs = []string{f.eventID}
	}
	return request, nil
}

func (f *replayFlags) run(ctx context.Context, request *replayrequest.Request, out io.Writer, log *slog.Logger) error {
	config, err := f.load()
	if err != nil {
		return err
	}
	l, err := ledger.Open(ctx, ledger.Options{
		URL: f.url, Schema: config.Schema, Endpoint: config.Endpoint, MaxConns: 1, Logger: log,
	})
	if err != nil {
		return err
	}
	defer l.Close()
	progress, err := l.PrepareReplay(ctx, request)
	if err != nil {
		return err
	}
	log.Info("Deliveries are chosen", "replay", request.ID, "name", request.Name, "matched", progress.Matched, "send", request.Send)
	if request.Send {
		progress, err = sendReplay(ctx, l, request, progress)
		if err != nil {
			return fmt.Errorf("replay (%d of %d deliveries were put back): %w", progress.Sent, progress.Matched, err)
		}
	}
	fmt.Fprintln(out, describeReplay(progress))
	return nil
}

// sendReplay sends what is chosen, at the request's rate, until everything is sent or too many fail.
func sendReplay(
	ctx context.Context, l *ledger.Ledger, request *replayrequest.Request, progress receiverstatus.Replay,
) (receiverstatus.Replay, error) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for left := request.RatePerSecond; !progress.Ended; {
		tooMany := request.StopAfterFailures > 0 && progress.Failing >= int64(request.StopAfterFailures)
		if tooMany || progress.Sent+progress.Skipped >= progress.Matched {
			return l.EndReplay(ctx, request.ID)
		}
		if request.RatePerSecond > 0 && left <= 0 {
			select {
			case <-second.C:
			case <-ctx.Done():
				return progress, ctx.Err()
			}
			left = request.RatePerSecond
		}
		limit := replayBatch
		if request.RatePerSecond > 0 {
			limit = min(limit, left)
			left -= limit
		}
		next, err := l.SendReplay(ctx, request.ID, limit)
		if err != nil {
			return progress, err
		}
		progress = next
	}
	return progress, nil
}

func describeReplay(r receiverstatus.Replay) string {
	text := fmt.Sprintf("%d deliveries match, %d put back into the outbox", r.Matched, r.Sent)
	if r.Skipped > 0 {
		text += fmt.Sprintf(", %d on their way already or gone", r.Skipped)
	}
	if r.Stopped {
		text += fmt.Sprintf("; stopped after %d failed", r.Failing)
	}
	return text
}
