// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
)

// FuzzRawRequest gives the handler whatever net/http reads from raw bytes. Without the key nobody gets anything recorded,
// and every answer is one of those that are promised.
func FuzzRawRequest(f *testing.F) {
	for _, name := range []string{scheme.Paymos, scheme.GitHub, scheme.StandardWebhooks, scheme.Stripe} {
		s, _ := scheme.Preset(name)
		header := &bytes.Buffer{}
		if err := signatureOf(f, s, body).Write(header); err != nil {
			f.Fatal(err)
		}
		// Signed under another time, so that none of the seeds is accepted.
		late := strings.ReplaceAll(header.String(), "1700000000", "1600000000")
		f.Add([]byte(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), late, body+"x")))
		f.Add([]byte(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n%s\r\n5\r\nhello\r\n0\r\n\r\n", path, late)))
	}
	for _, line := range []string{"GET " + path + "?hub.mode=subscribe", "OPTIONS *", "POST " + path + "/", "CONNECT x:1", "POST http://x" + path} {
		f.Add([]byte(line + " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Encoding: gzip\r\n\r\n"))
	}
	e := newEndpoint(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		w := e.post(r)
		switch w.Code {
		case 400, 401, 404, 405, 413, 415:
		default:
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		if _, err := io.Copy(io.Discard, r.Body); err == nil && e.ledger.calls() != 0 {
			t.Error("recorded")
		}
		if strings.Contains(e.log.String(), "panic") {
			t.Error(e.log.String())
		}
	})
}
