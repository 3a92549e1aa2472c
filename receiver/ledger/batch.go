// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hookonce/hookonce/receiver"
)

// batch is the events of one transaction, and what it is sent with. It is used again and again.
type batch struct {
	taken []*waiting
	// held are the keys that the queue holds for the batch.
	held []claimKey
	// sent are those whose claims are tried, and behind those that share an id or a body with one of them: they cannot win.
	sent, behind []*waiting
	keys         map[claimKey]struct{}

	claims     claimColumns
	bodies     bodyColumns
	events     eventColumns
	deliveries deliveryColumns
	numbers    [2 + 2 + 4]byte
	parameters [][]byte
}

type claimColumns struct{ key, event, digest, claimsBody column }

type bodyColumns struct{ key, event, digest, result, idKey column }

type eventColumns struct{ eventID, eventType, resourceID, contentType, headers, body, payload column }

type deliveryColumns struct{ id, event, destination, term, resource column }

var batches = sync.Pool{New: func() any { return newBatch() }}

func newBatch() *batch {
	bytea, text, id := newColumn(pgtype.ByteaOID), newColumn(pgtype.TextOID), newColumn(pgtype.UUIDOID)
	return &batch{
		keys:   map[claimKey]struct{}{},
		claims: claimColumns{key: bytea, event: id, digest: bytea, claimsBody: newColumn(pgtype.BoolOID)},
		bodies: bodyColumns{key: bytea, event: id, digest: bytea, result: bytea, idKey: bytea},
		events: eventColumns{
			eventID: text, eventType: text, resourceID: text, contentType: text, headers: bytea, body: bytea, payload: bytea,
		},
		deliveries: deliveryColumns{id: id, event: id, destination: text, term: newColumn(pgtype.Int8OID), resource: text},
	}
}

// release keeps it for the next writer.
func (b *batch) release() {
	b.forget()
	batches.Put(b)
}

// forget lets go of the events.
func (b *batch) forget() {
	clear(b.taken)
	clear(b.sent)
	clear(b.behind)
	clear(b.keys)
	b.taken, b.sent, b.behind = b.taken[:0], b.sent[:0], b.behind[:0]
}

// sort divides what was taken: what is too late is given its outcome.
func (b *batch) sort(now time.Time) {
	b.sent, b.behind = b.sent[:0], b.behind[:0]
	clear(b.keys)
	for _, w := range b.taken {
		switch {
		case now.After(w.sendBy):
			w.finish(receiver.Receipt{}, unavailable("wait for a batch", context.DeadlineExceeded))
		case b.reserve(w):
			b.sent = append(b.sent, w)
		default:
			b.behind = append(b.behind, w)
		}
	}
}

// answerBy is when the commit must have been answered: no later than any of the events allows.
func (b *batch) answerBy(now time.Time) time.Time {
	by := now.Add(commitTimeout)
	for _, w := range b.sent {
		if commitBy := w.sendBy.Add(commitReserve); commitBy.Before(by) {
			by = commitBy
		}
	}
	return by
}

// sendBy is when the first of what was taken must have been sent.
func (b *batch) sendBy() time.Time {
	by := wallClock().Add(recordTimeout)
	for _, w := range b.taken {
		if w.sendBy.Before(by) {
			by = w.sendBy
		}
	}
	return by
}

// reserve says whether no other event of the batch has the keys of this one.
func (b *batch) reserve(w *waiting) bool {
	if _, taken := b.keys[w.key]; taken {
		return false
	}
	if w.event.ClaimBody {
		if _, taken := b.keys[w.body]; taken {
			return false
		}
		b.keys[w.body] = struct{}{}
	}
	b.keys[w.key] = struct{}{}
	return true
}

// unfinished are the events that have been given no outcome yet.
func (b *batch) unfinished() []*waiting { return append(b.sent, b.behind...) }

// fill builds the arrays, in the order of the statement's parameters.
func (b *batch) fill(endpoint, scopeName string, scope int32, now time.Time) error {
	columns := b.columns()
	for _, c := range columns {
		c.reset()
	}
	token, err := uuid.NewRandom()
	if err != nil {
		return fmt.Errorf("make a lease: %w", err)
	}
	for _, w := range b.sent {
		b.add(w)
		for i := range w.outbox {
			if !w.outbox[i].Ordered {
				w.outbox[i].Lease = receiver.Lease{Token: token, Expires: now.Add(w.term)}
			}
		}
	}
	number := func(at, size int) []byte { return b.numbers[at : at+size] }
	binary.BigEndian.PutUint16(number(0, 2), uint16(stateProcessed))
	binary.BigEndian.PutUint16(number(2, 2), uint16(statusOK))
	binary.BigEndian.PutUint32(number(4, 4), uint32(scope)) //nolint:gosec // The bits are kept.
	b.parameters = append(b.parameters[:0], number(4, 4), []byte(scopeName), number(0, 2), number(2, 2), []byte(endpoint), token[:])
	for _, c := range columns {
		b.parameters = append(b.parameters, c.bytes())
	}
	return nil
}

// columns are the arrays, in the order of the statement's parameters.
func (b *batch) columns() [21]*column {
	c, o, e, d := &b.claims, &b.bodies, &b.events, &b.deliveries
	return [21]*column{
		&c.key, &c.event, &c.digest, &c.claimsBody,
		&o.key, &o.event, &o.digest, &o.result, &o.idKey,
		&e.eventID, &e.eventType, &e.resourceID, &e.contentType,
		&d.id, &d.event, &d.destination, &d.term, &d.resource,
		&e.headers, &e.payload, &e.body,
	}
}

func (b *batch) add(w *waiting) {
	c, o, e, d := &b.claims, &b.bodies, &b.events, &b.deliveries
	digest := w.event.BodyDigest[:]
	c.key.addBytes(w.key[:])
	c.event.addBytes(w.id[:])
	c.digest.addBytes(digest)
	c.claimsBody.addBool(w.event.ClaimBody)
	if w.event.ClaimBody {
		o.key.addBytes(w.body[:])
		o.event.addBytes(w.id[:])
		o.digest.addBytes(digest)
		// A body may come again under an id that says nothing about this event, so its answer cannot be derived.
		o.result.addBytes(w.answer.Body)
		o.idKey.addBytes(w.key[:])
	}
	e.eventID.addText(w.event.ID)
	e.eventType.addText(w.event.Type)
	e.resourceID.addText(w.event.ResourceID)
	e.contentType.addText(w.event.ContentType)
	e.headers.addBytes(w.event.Headers)
	e.body.addBytes(w.event.Body)
	e.payload.addOrNull(w.event.Payload)
	for i := range w.outbox {
		d.id.addBytes(w.outbox[i].ID[:])
		d.event.addBytes(w.id[:])
		d.destination.addText(w.outbox[i].Destination)
		d.term.addInt64(w.term.Microseconds())
		if w.outbox[i].Ordered {
			d.resource.addText(w.event.ResourceID)
		} else {
			d.resource.addNull()
		}
	}
}
