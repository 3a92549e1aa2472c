// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// firstChunk is how many bytes are held for a body before any of it has arrived. What was declared is not believed: a
// sender must send bytes to occupy them.
const firstChunk = 8 << 10

// checkRequest refuses what can be refused before the body is read, so that Expect: 100-continue is never granted in vain.
func (x *exchange) checkRequest() *refusal {
	refused := x.checkHead()
	if refused != nil {
		x.closeConnection()
	}
	return refused
}

func (x *exchange) checkHead() *refusal {
	switch {
	case x.settings.Path == "":
		return notConfigured
	case x.r.URL.EscapedPath() != x.settings.Path:
		return notFound
	case x.r.Method != http.MethodPost:
		return wrongMethod
	case !isIdentity(x.r.Header.Values("Content-Encoding")):
		return unknownEncoding
	case x.r.ContentLength > x.settings.MaxBodyBytes:
		return tooLarge
	}
	return nil
}

// isIdentity says whether the body is sent as it is. Signatures are over the bytes that arrive, and providers do not
// compress, so nothing is ever decompressed.
func isIdentity(encodings []string) bool {
	for _, value := range encodings {
		if trimmed := strings.TrimSpace(value); trimmed != "" && !strings.EqualFold(trimmed, "identity") {
			return false
		}
	}
	return true
}

// heldBody is a body and the bytes that the gate counts for it.
type heldBody struct {
	bytes []byte
	held  int64
}

// readBody reads the whole body or refuses it: it is never cut. What the gate counts grows with what has arrived.
func (x *exchange) readBody() (heldBody, *refusal) {
	limit := x.settings.MaxBodyBytes
	reader := http.MaxBytesReader(x.w, x.r.Body, limit)
	var body heldBody
	for {
		if len(body.bytes) == cap(body.bytes) && !x.grow(&body) {
			x.closeConnection()
			return body, busy
		}
		n, err := reader.Read(body.bytes[len(body.bytes):cap(body.bytes)])
		body.bytes = body.bytes[:len(body.bytes)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return body, tooLarge
		}
		if err != nil {
			x.closeConnection()
			return body, incomplete
		}
	}
}

// grow doubles the room for the body, up to one byte more than can be needed: the one in which the end is seen.
func (x *exchange) grow(body *heldBody) bool {
	size := max(firstChunk, 2*int64(cap(body.bytes)))
	most := x.settings.MaxBodyBytes + 1
	if declared := x.r.ContentLength; declared >= 0 {
		most = min(most, declared+1)
	}
	size = min(size, max(most, int64(len(body.bytes))+1))
	if !x.handler.gate.holdBytes(size-body.held, x.settings.MaxInFlightBytes) {
		return false
	}
	body.held = size
	grown := make([]byte, len(body.bytes), size)
	copy(grown, body.bytes)
	body.bytes = grown
	return true
}
