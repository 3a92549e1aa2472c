// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// firstChunk is how many bytes are held for a body once its first has arrived. What was declared is not believed: a sender
// must send bytes to occupy them.
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
	case !x.hasSignature():
		return unsigned
	}
	return nil
}

// hasSignature says whether there is anything to verify; without, the body is not worth reading. Whether the scheme can be
// verified with is left to the verification.
func (x *exchange) hasSignature() bool {
	name := x.settings.Scheme.Signature.Header
	return name == "" || slices.ContainsFunc(x.r.Header.Values(name), func(value string) bool {
		return strings.TrimSpace(value) != ""
	})
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
	small bool
}

// readBody reads the whole body or refuses it: it is never cut. What the gate counts grows with what has arrived, and the
// time that is left for the rest with it.
func (x *exchange) readBody() (heldBody, *refusal) {
	reader := http.MaxBytesReader(x.w, x.r.Body, x.settings.MaxBodyBytes)
	pace := newPace(wallClock())
	// Room for one byte, which the gate does not count: who sends nothing occupies nothing.
	body := heldBody{bytes: make([]byte, 0, 1), small: x.r.ContentLength >= 0 && x.r.ContentLength <= smallBody}
	for {
		if len(body.bytes) == cap(body.bytes) && !x.grow(&body) {
			x.closeConnection()
			return body, busy
		}
		x.readBy(pace.deadline)
		n, err := reader.Read(body.bytes[len(body.bytes):cap(body.bytes)])
		body.bytes = body.bytes[:len(body.bytes)+n]
		if err == nil {
			pace.advance(wallClock(), n)
			continue
		}
		if errors.Is(err, io.EOF) {
			// The deadline ends here: net/http lifts it, to notice when the provider hangs up.
			return body, nil
		}
		return body, x.broken(err)
	}
}

// broken is the answer to a body that could not be read to its end.
func (x *exchange) broken(err error) *refusal {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	x.closeConnection()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return tooSlow
	}
	return incomplete
}

// grow doubles the room for the body, up to one byte more than can be needed: the one in which the end is seen.
func (x *exchange) grow(body *heldBody) bool {
	size := max(firstChunk, 2*int64(cap(body.bytes)))
	most := x.settings.MaxBodyBytes + 1
	if declared := x.r.ContentLength; declared >= 0 {
		most = min(most, declared+1)
	}
	size = min(size, max(most, int64(len(body.bytes))+1))
	if !x.handler.gate.holdBytes(size-body.held, x.settings.MaxInFlightBytes, body.small) {
		return false
	}
	body.held = size
	grown := make([]byte, len(body.bytes), size)
	copy(grown, body.bytes)
	body.bytes = grown
	return true
}
