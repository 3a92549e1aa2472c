// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package load sends signed deliveries as fast as a server takes them, or at a given rate. It is as lean as it can be,
// because it shares the machine with what it measures: each connection has one request in memory, of which it changes the
// ids, the timestamp and the signature.
package load

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Target is where deliveries go and how they are signed.
type Target struct {
	// Address is host:port.
	Address string
	// Path of the endpoint.
	Path string
	// Secret signs as the scheme Paymos does: HMAC-SHA256 over timestamp, a dot and the body.
	Secret string
	// BodyBytes is the size of each body, at least 512 bytes. Default DefaultBodyBytes.
	BodyBytes int
}

// DefaultBodyBytes is the size of a body: 1 KiB.
const DefaultBodyBytes = 1024

// EventType is what all events are.
const EventType = "invoice.paid"

// The parts of a request that change. Their widths never do.
const (
	tokenWidth     = 18
	timestampWidth = 10
	digestWidth    = 2 * sha256.Size
)

// Number names one request of a run; the ids in the body are made of it.
type Number struct {
	// Run is the same for all requests of a run.
	Run uint32
	// Sender is the place of the connection among those of the run.
	Sender int
	// Sequence counts the requests of a connection.
	Sequence int
}

// put writes the number into its place, as hexadecimal digits.
func (n Number) put(at []byte) {
	const digits = "0123456789abcdef"
	write := func(from, width int, value uint64) {
		for i := from + width - 1; i >= from; i-- {
			at[i] = digits[value&15]
			value >>= 4
		}
	}
	write(0, 6, uint64(n.Run))
	write(6, 4, uint64(n.Sender))
	write(10, 8, uint64(n.Sequence))
}

// Parse reads the number out of an event id.
func Parse(eventID string) (Number, error) {
	token, found := strings.CutPrefix(eventID, "evt_")
	if !found || len(token) != tokenWidth {
		return Number{}, fmt.Errorf("%q is no event id of the benchmark", eventID)
	}
	value, err := strconv.ParseUint(token[2:], 16, 64)
	if err != nil {
		return Number{}, fmt.Errorf("read the event id %q: %w", eventID, err)
	}
	run, err := strconv.ParseUint(token[:6], 16, 32)
	if err != nil {
		return Number{}, fmt.Errorf("read the event id %q: %w", eventID, err)
	}
	return Number{Run: uint32(run), Sender: int(value >> 32 & 0xffff), Sequence: int(value & 0xffffffff)}, nil
}

// Body is a body of so many bytes as it would be sent for the number.
func Body(n Number, size int) []byte {
	token := make([]byte, tokenWidth)
	n.put(token)
	return body(string(token), size)
}

func body(token string, size int) []byte {
	head := `{"event_id":"evt_` + token + `","event_type":"` + EventType + `","created_at":"2026-11-30T12:00:00Z","data":{"invoice_id":"inv_` +
		token + `","amount":"125.00","currency":"EUR","customer":{"id":"cus_8f14e45f","country":"DE","email":"buyer@example.com"},"note":"`
	tail := `"}}`
	return []byte(head + strings.Repeat("a line of the invoice, as long as it takes; ", size)[:max(size-len(head)-len(tail), 0)] + tail)
}

// request is one request in memory.
type request struct {
	bytes                        []byte
	timestamp, digest            []byte
	eventID, resourceID, payload []byte
	mac                          hash.Hash
	sum                          [sha256.Size]byte
	second                       int64
}

func newRequest(to Target) *request {
	if to.BodyBytes == 0 {
		to.BodyBytes = DefaultBodyBytes
	}
	token := strings.Repeat("0", tokenWidth)
	payload := body(token, to.BodyBytes)
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: Paymos-Webhooks/1.0\r\nContent-Type: application/json\r\n",
		http.MethodPost, to.Path, to.Address)
	fmt.Fprintf(&text, "X-Webhook-Signature: t=%s,v1=%s\r\nContent-Length: %d\r\n\r\n",
		strings.Repeat("1", timestampWidth), strings.Repeat("2", digestWidth), len(payload))
	head := text.Len()
	text.Write(payload)
	r := &request{bytes: text.Bytes(), mac: hmac.New(sha256.New, []byte(to.Secret))}
	find := func(in []byte, mark string, width int) []byte {
		at := bytes.Index(in, []byte(mark)) + len(mark)
		return in[at : at+width : at+width]
	}
	r.timestamp = find(r.bytes, "t=", timestampWidth)
	r.digest = find(r.bytes, ",v1=", digestWidth)
	r.payload = r.bytes[head:]
	r.eventID = find(r.payload, "evt_", tokenWidth)
	r.resourceID = find(r.payload, "inv_", tokenWidth)
	return r
}

// prepare makes the request that of the number, signed now.
func (r *request) prepare(n Number, now time.Time) {
	n.put(r.eventID)
	n.put(r.resourceID)
	if second := now.Unix(); second != r.second {
		r.second = second
		strconv.AppendInt(r.timestamp[:0], second, 10)
	}
	r.mac.Reset()
	r.mac.Write(r.timestamp)
	r.mac.Write([]byte{'.'})
	r.mac.Write(r.payload)
	hex.Encode(r.digest, r.mac.Sum(r.sum[:0]))
}
