// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Recorded says which of the events the endpoint has claimed: their number is 1, and others are missing. Errors wrap
// receiver.ErrUnavailable.
func (l *Ledger) Recorded(ctx context.Context, eventIDs []string) (map[string]int, error) {
	byKey := map[claimKey]string{}
	var keys [][]byte
	for _, id := range eventIDs {
		key := idKey(id)
		byKey[key] = id
		keys = append(keys, key[:])
	}
	recorded := map[string]int{}
	err := l.ask(ctx, "look for events", func(batch *pgx.Batch, scope int32) {
		clear(recorded)
		batch.Queue(l.sql.lookup, scope, keys, l.scopeName()).Query(func(rows pgx.Rows) error {
			var key []byte
			_, err := pgx.ForEachRow(rows, []any{&key, nil, nil, nil, nil, nil}, func() error {
				recorded[byKey[claimKey(key)]] = 1
				return nil
			})
			return err
		})
	})
	return recorded, err
}
