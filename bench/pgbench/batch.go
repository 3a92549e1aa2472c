// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pgbench

import "io/fs"

// Fifty is fifty events in a transaction, by the statement of the ledger's group commit.
func Fifty(sql fs.FS) (Script, error) {
	const none = "'{}'"
	ids, keys, digests := each(id(atBatch)), each(key(atBatch)), each(digest(atBatch))
	return build(sql, "fifty", Batch, []step{{"batch", []string{
		scope, scopeName, state, status, endpoint, token,
		keys, ids, digests, same("false"),
		none, none, none, none, none,
		each(eventID(atBatch)), same(eventType), each(resourceID(atBatch)), same(contentType),
		each(deliveryID(atBatch)), ids, same(destination), same("10800000000::bigint"), same("NULL::text"),
		same(headers), same("NULL::bytea"), same(body),
	}, nil}})
}

// Plain is fifty events in a transaction, by three statements as plain as can be: no look-up, no question who has won.
// What the ledger's own statement costs more than this is the price of what it finds out.
func Plain() Script {
	return script("plain", Batch, []string{
		"INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status) SELECT " + scope + ", u.key, u.event, u.digest, " +
			state + ", " + status + " FROM unnest(" + each(key(atBatch)) + ", " + each(id(atBatch)) + ", " + each(digest(atBatch)) +
			") AS u (key, event, digest) ORDER BY u.key ON CONFLICT (scope, key) DO NOTHING RETURNING event",
		"INSERT INTO hookonce.event (id, scope, endpoint, event_id, event_type, resource_id, content_type, headers, body) SELECT u.id, " +
			scope + ", " + endpoint + ", u.event_id, u.type, u.resource, u.content_type, u.headers, u.body FROM unnest(" +
			each(id(atBatch)) + ", " + each(eventID(atBatch)) + ", " + same(eventType) + ", " + each(resourceID(atBatch)) + ", " +
			same(contentType) + ", " + same(headers) + ", " + same(body) +
			") AS u (id, event_id, type, resource, content_type, headers, body)",
		"INSERT INTO hookonce.delivery (id, scope, event, event_received_at, destination, next_attempt_at, lease_token, leased_until)" +
			" SELECT u.id, " + scope + ", u.event, now(), u.destination, now(), " + token + ", clock_timestamp() + " + lease +
			" FROM unnest(" + each(deliveryID(atBatch)) + ", " + each(id(atBatch)) + ", " + same(destination) +
			") AS u (id, event, destination)",
	})
}
