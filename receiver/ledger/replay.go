// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver/database"
)

const (
	// choosingTimeout is how long the deliveries of a replay may take to be found.
	choosingTimeout = 10 * time.Minute
	// shownReplays is how many replays of an endpoint Replays returns.
	shownReplays = 50
)

// ErrNoReplay says that the ledger has no replay of that id.
var ErrNoReplay = errors.New("no such replay")

// PrepareReplay chooses the deliveries of a replay and notes who wanted it and why; nothing is sent. A replay that is known
// already stays as it is. It takes at most 10 minutes. Errors wrap receiver.ErrUnavailable.
func (l *Ledger) PrepareReplay(ctx context.Context, request *replayrequest.Request) (receiverstatus.Replay, error) {
	known, err := l.FindReplay(ctx, request.ID)
	if !errors.Is(err, ErrNoReplay) {
		return known, err
	}
	selector, err := json.Marshal(request.Selector)
	if err != nil {
		return known, fmt.Errorf("note the selector: %w", err)
	}
	statement := l.sql.replayFailed
	if request.Selector.State == replayrequest.Delivered {
		statement = l.sql.replayDelivered
	}
	err = l.inTransaction(ctx, "choose the deliveries of a replay", func(batch *pgx.Batch, scope int32) {
		s := &request.Selector
		batch.Queue("select set_config('statement_timeout', $1, true)", database.Milliseconds(choosingTimeout))
		batch.Queue(statement, request.ID, storable(request.Name), storable(request.RequestedBy), storable(request.Reason), selector, scope,
			s.Destination, orEmpty(s.EventIDs), likes(s.EventTypes), orNull(s.ReceivedAfter), orNull(s.ReceivedBefore), s.Reason)
	})
	if err != nil {
		return known, err
	}
	return l.FindReplay(ctx, request.ID)
}

// SendReplay puts at most limit of the chosen deliveries back into the outbox, under the keys that they had. Errors wrap
// receiver.ErrUnavailable or ErrNoReplay.
func (l *Ledger) SendReplay(ctx context.Context, id uuid.UUID, limit int) (receiverstatus.Replay, error) {
	err := l.inTransaction(ctx, "send a part of a replay", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.replaySend, id, scope, limit)
	})
	if err != nil {
		return receiverstatus.Replay{}, err
	}
	return l.FindReplay(ctx, id)
}

// EndReplay says that no more of the replay is to be sent. Errors wrap receiver.ErrUnavailable or ErrNoReplay.
func (l *Ledger) EndReplay(ctx context.Context, id uuid.UUID) (receiverstatus.Replay, error) {
	err := l.inTransaction(ctx, "end a replay", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.replayEnd, id, scope)
	})
	if err != nil {
		return receiverstatus.Replay{}, err
	}
	return l.FindReplay(ctx, id)
}

// FindReplay returns how far a replay is. Errors wrap receiver.ErrUnavailable or ErrNoReplay.
func (l *Ledger) FindReplay(ctx context.Context, id uuid.UUID) (receiverstatus.Replay, error) {
	var found []receiverstatus.Replay
	err := l.inTransaction(ctx, "look for a replay", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.replayFind, id, scope).Query(collectReplays(&found))
	})
	if err == nil && len(found) == 0 {
		err = ErrNoReplay
	}
	if err != nil {
		return receiverstatus.Replay{}, err
	}
	return found[0], nil
}

// Replays returns how far the latest replays of the endpoint are, at most 50. Errors wrap receiver.ErrUnavailable.
func (l *Ledger) Replays(ctx context.Context) ([]receiverstatus.Replay, error) {
	var found []receiverstatus.Replay
	err := l.ask(ctx, "list replays", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.replays, scope, shownReplays).Query(collectReplays(&found))
	})
	return found, err
}

func collectReplays(into *[]receiverstatus.Replay) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (receiverstatus.Replay, error) {
			var r receiverstatus.Replay
			var sent *time.Time
			var id uuid.UUID
			err := row.Scan(&id, &r.Name, &r.Created, &sent, &r.Matched, &r.Sent, &r.Skipped, &r.Succeeded, &r.Failed, &r.Failing, &r.Stopped)
			r.ID, r.Created, r.Ended = id.String(), r.Created.UTC(), sent != nil
			return r, err
		})
		return err
	}
}

// likes turns patterns of event types into those of LIKE. One that fits every type is no restriction.
func likes(patterns []string) []string {
	escape := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	list := []string{}
	for _, pattern := range patterns {
		if pattern == "*" {
			return []string{}
		}
		prefix, open := strings.CutSuffix(pattern, "*")
		pattern = escape.Replace(prefix)
		if open {
			pattern += "%"
		}
		list = append(list, pattern)
	}
	return list
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
