// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// parameters are those of the statements of one quick recording, as the server reads them. They are used again and again.
type parameters struct {
	claim, settle, settleBody [][]byte

	ids, destinations, resources column
	// scratch holds what is not there as bytes.
	scratch []byte
}

var quickParameters = sync.Pool{New: func() any {
	return &parameters{ids: newColumn(pgtype.UUIDOID), destinations: newColumn(pgtype.TextOID), resources: newColumn(pgtype.TextOID)}
}}

// release lets go of the event, and keeps the rest for the next one.
func (p *parameters) release() {
	clear(p.claim)
	clear(p.settle)
	clear(p.settleBody)
	quickParameters.Put(p)
}

// text is null for an empty text.
func (p *parameters) text(text string) []byte {
	if text == "" {
		return nil
	}
	return p.kept(func(b []byte) []byte { return append(b, storable(text)...) })
}

// kept is what to appends.
func (p *parameters) kept(to func([]byte) []byte) []byte {
	from := len(p.scratch)
	p.scratch = to(p.scratch)
	return p.scratch[from:len(p.scratch):len(p.scratch)]
}

func (p *parameters) int16(n int16) []byte {
	return p.kept(func(b []byte) []byte { return binary.BigEndian.AppendUint16(b, uint16(n)) }) //nolint:gosec // The bits are kept.
}

func (p *parameters) int32(n int32) []byte {
	return p.kept(func(b []byte) []byte { return binary.BigEndian.AppendUint32(b, uint32(n)) }) //nolint:gosec // The bits are kept.
}

func (p *parameters) int64(n int64) []byte {
	return p.kept(func(b []byte) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }) //nolint:gosec // The bits are kept.
}

// fill makes the parameters, and with them the event's deliveries. The function may run for as long as is left.
func (q *quick) fill(left time.Duration) error {
	r, p, e := q.r, q.p, &q.r.event
	p.scratch = p.scratch[:0]
	p.ids.reset()
	p.destinations.reset()
	p.resources.reset()
	token, err := uuid.NewRandom()
	if err != nil {
		return fmt.Errorf("make a lease: %w", err)
	}
	if len(r.work.Destinations) > 0 {
		if q.outbox, err = r.l.newOutbox(e, &r.work); err != nil {
			return err
		}
	}
	// Our clock is read before the database's, so our end of the lease is the earlier one.
	term := r.l.options.Lease()
	lease := receiver.Lease{Token: token, Expires: r.l.options.Now().Add(term)}
	for i := range q.outbox {
		if q.outbox[i].Ordered {
			p.resources.addText(e.ResourceID)
		} else {
			q.outbox[i].Lease = lease
			p.resources.addNull()
		}
		p.ids.addBytes(q.outbox[i].ID[:])
		p.destinations.addText(q.outbox[i].Destination)
	}
	before, err := answerBefore(e.ID, r.calls[0].effect.Name)
	if err != nil {
		return err
	}
	scope, id, key := p.int32(r.scope), r.id[:], r.candidate.key[:]
	row := [...][]byte{
		p.text(r.l.options.Endpoint), p.text(e.ID), p.text(e.Type), p.text(e.ResourceID), p.text(e.ContentType),
		notNil(e.Headers), notNil(e.Body), e.Payload,
	}
	p.claim = append(p.claim[:0], scope, []byte(r.l.scopeName()), key, id, e.BodyDigest[:], p.int16(stateProcessed), p.int16(statusOK))
	p.claim = append(p.claim, row[:]...)
	p.claim = append(p.claim, token[:], p.int64(term.Microseconds()), p.ids.bytes(), p.destinations.bytes(),
		r.l.settings[0], []byte(database.Milliseconds(left)), p.resources.bytes())
	p.settle = append(append(p.settle[:0], scope, key, id, []byte(before), []byte(afterResult)), row[:]...)
	if e.ClaimBody {
		p.claim = append(p.claim, r.candidate.body[:])
		p.settleBody = append(p.settleBody[:0], scope, key, id, r.candidate.body[:])
	}
	return nil
}
