// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package hostile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mostMemory of the receiver in MiB, whatever senders do.
const mostMemory = 128

// TestAThousandEndlessBodies: of 1 GiB each, half of them declared and half in chunks, 100 at a time.
func TestAThousandEndlessBodies(t *testing.T) {
	x := newTarget(t, false)
	before := x.wire.sent.Load()
	endless(t, x)
	if n := x.wire.sent.Load() - before; n != 0 {
		t.Errorf("%d bytes were sent to Postgres for requests that are not verified", n)
	}
	withGood(t, x, func(context.Context) { endless(t, x) })
	x.wantMemory(t, mostMemory)
}

func endless(t *testing.T, x *target) {
	t.Helper()
	var senders sync.WaitGroup
	var codes [600]atomic.Int64
	next := atomic.Int64{}
	for range 100 {
		senders.Go(func() {
			for n := next.Add(1); n <= 1000; n = next.Add(1) {
				code := sendEndless(t.Context(), x, int(n))
				codes[code].Add(1)
			}
		})
	}
	senders.Wait()
	// A connection that is reset before its answer was read counts as none. One whose body falls behind when there is no room
	// is told so.
	refused, reset := codes[http.StatusRequestEntityTooLarge].Load(), codes[0].Load()
	crowded, late := codes[http.StatusServiceUnavailable].Load(), codes[http.StatusRequestTimeout].Load()
	t.Logf("%d were answered 413, %d 503, %d 408 and %d reset, of 1000", refused, crowded, late, reset)
	if refused+reset+crowded+late != 1000 || refused < 500 {
		t.Error("some were answered otherwise, or too few 413")
	}
}

// The pieces of endless bodies are made once: senders that are busy making them would be measured, and not the receiver.
var (
	plainPiece   = bytes.Repeat([]byte("x"), 64<<10)
	chunkedPiece = fmt.Appendf(nil, "%x\r\n%s\r\n", len(plainPiece), plainPiece)
)

func sendEndless(ctx context.Context, x *target, n int) int {
	l, err := connect(ctx, x.public, n)
	if err != nil {
		return 0
	}
	defer func() { _ = l.Close() }()
	_ = l.SetDeadline(time.Now().Add(20 * time.Second))
	framing, piece := "Content-Length: 1073741824", plainPiece
	if n%2 == 0 {
		framing, piece = "Transfer-Encoding: chunked", chunkedPiece
	}
	go func() {
		_, err := io.WriteString(l, "POST "+path+" HTTP/1.1\r\nHost: x\r\n"+framing+"\r\n"+fmt.Sprintf(forged, time.Now().Unix())+"\r\n")
		for sent := 0; err == nil && sent < 1<<30; sent += len(piece) {
			_, err = l.Write(piece)
		}
	}()
	code, err := l.status()
	if err != nil {
		return 0
	}
	return code
}

// TestAThousandBodiesInFlight: of 64 KiB each, at once, stay within what a receiver may have. How that compares with their
// bytes is a figure of make bench.
func TestAThousandBodiesInFlight(t *testing.T) {
	const count, size = 1000, 64 << 10
	x := newTarget(t, false)
	idle := x.memory(t, "VmRSS")
	links := make([]*link, count)
	for i := range links {
		l, err := connect(t.Context(), x.public, i)
		must(t, err)
		defer func() { _ = l.Close() }()
		links[i] = l
	}
	var senders sync.WaitGroup
	var stalled, refused atomic.Int64
	for _, l := range links {
		senders.Go(func() {
			_, request := good(size)
			// The last byte comes when all others are there.
			_, _ = io.WriteString(l, request[:len(request)-1])
			stalled.Add(1)
			eventually(t, "all are there", func() bool { return stalled.Load() == count })
			if code, err := l.ask(request[len(request)-1:]); err != nil || code != http.StatusOK {
				refused.Add(1)
			}
		})
	}
	senders.Wait()
	most, limit := x.memory(t, "VmHWM"), 128<<10
	t.Logf("idle %d KiB, at most %d KiB with %d KiB of bodies, limit %d KiB; %d were not accepted", idle, most, count*size/1024, limit, refused.Load())
	if most > limit {
		t.Errorf("%d KiB, want at most %d", most, limit)
	}
}
