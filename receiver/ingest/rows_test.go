// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// The tests of this file are rows of docs/hostile-input.md, through a real server; more rows are where their subject is.

// postRaw posts a body of declared length with the signature line of another content, if that is given.
func postRaw(t *testing.T, e *endpoint, headers, content string) (int, string) {
	t.Helper()
	status, answer, _ := postWire(t, e.serve(t).Listener.Addr().String(), path, headers, content)
	return status, answer
}

func TestB20NoSignatureIsNoAccess(t *testing.T) {
	for _, headers := range []string{"", "X-Webhook-Signature:\r\n", "X-Webhook-Signature:    \r\n", "X-Webhook-Signature: \t\r\n", "X-Webhook-Signature: ,\r\n"} {
		e := newEndpoint(t)
		if status, answer := postRaw(t, e, headers, body); (status != 401 && status != 400) || (!strings.Contains(headers, ",") && status != 401) || e.ledger.calls() != 0 {
			t.Errorf("%q: got %d %s", headers, status, answer)
		}
	}
}

func TestB21HeaderNamesHaveNoCase(t *testing.T) {
	for _, name := range []string{"x-webhook-signature", "X-WEBHOOK-SIGNATURE", "x-WEBHOOK-sIGNATURE"} {
		for _, configured := range []string{"X-Webhook-Signature", "x-WEBHOOK-signature"} {
			e := newEndpoint(t)
			e.settings.Scheme.Signature.Header = configured
			if e.settings.Scheme.Timestamp != nil {
				e.settings.Scheme.Timestamp.Header = configured
			}
			if status, answer := postRaw(t, e, strings.Replace(signatureLine(t, body), "X-Webhook-Signature", name, 1), body); status != 200 {
				t.Errorf("%s for %s: got %d %s", name, configured, status, answer)
			}
		}
	}
}

// TestB23B24B27B28B30BytesAreKept: the ledger gets the bytes that were signed, whatever a parser would make of them.
func TestB23B24B27B28B30BytesAreKept(t *testing.T) {
	for name, value := range map[string]string{
		"B23 beyond ASCII":       `"😊 Plaça \u2028"`,
		"B24 mixed escapes":      `"Foo\n\u001B[34mbar: \u2665 \u001b[0m" , "y" :  1`,
		"B27 NUL":                `"x\u0000y","\u0000":1`,
		"B28 lone surrogates":    `"\ud83d","b":"\udc00\ud83d","c":"\\u0000"`,
		"B30 numbers":            `8202522731445525542,"f":1e400,"d":0.1000000000000000055`,
		"bytes that are no text": "\"\xff\xfe\"",
	} {
		content := `{"event_id":"evt_1","a":` + value + "}\r\n\n"
		e := newEndpoint(t)
		status, answer := postRaw(t, e, signatureLine(t, content), content)
		if status == 400 && strings.HasPrefix(name, "bytes") {
			continue
		}
		if status != 200 || string(e.ledger.events[0].Body) != content {
			t.Errorf("%s: got %d %s", name, status, answer)
		}
	}
}

func TestB25ABadSignatureIs401(t *testing.T) {
	e := newEndpoint(t)
	if status, answer := postRaw(t, e, forged, body); status != 401 || answer != `{"error":"bad_signature"}` || e.ledger.calls() != 0 {
		t.Errorf("got %d %s", status, answer)
	}
}

// TestB34AnEmptyBody: an event if the scheme finds the id elsewhere, and otherwise 400; a slow ledger is waited for.
func TestB34AnEmptyBody(t *testing.T) {
	github, _ := scheme.Preset(scheme.GitHub)
	e := newEndpoint(t, func(e *endpoint) { e.settings.Scheme = github })
	header := ""
	for name := range signatureOf(t, github, "") {
		header += name + ": " + signatureOf(t, github, "").Get(name) + "\r\n"
	}
	if status, answer := postRaw(t, e, header, ""); status != 200 || len(e.ledger.events[0].Body) != 0 {
		t.Errorf("with an id in a header: got %d %s", status, answer)
	}
	e = newEndpoint(t)
	if status, answer := postRaw(t, e, signatureLine(t, ""), ""); status != 400 || e.ledger.calls() != 0 {
		t.Errorf("without an id: got %d %s", status, answer)
	}
}

// TestB35ABodyWithoutEndIsCut: 2 GiB in chunks are refused when the limit is reached, and no more of them is taken.
func TestB35ABodyWithoutEndIsCut(t *testing.T) {
	e := newEndpoint(t)
	w := dial(t, e.serve(t).Listener.Addr().String())
	w.write("POST " + path + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" + forged + "\r\n")
	written := make(chan int64, 1)
	go func() {
		piece := []byte(fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10)))
		var total int64
		for total < 2<<30 {
			n, err := w.conn.Write(piece)
			if total += int64(n); err != nil {
				break
			}
		}
		written <- total
	}()
	started := time.Now()
	status, answer, header := w.answer()
	if took := time.Since(started); status != 413 || answer != `{"error":"body_too_large"}` || header.Get("Connection") != "close" || took > time.Second {
		t.Errorf("got %d %s after %v, Connection %q", status, answer, took, header.Get("Connection"))
	}
	// What the kernel's buffers take is written too.
	if n := <-written; n > 64<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

// TestB37FormsHaveTheSameLimit: and get one answer.
func TestB37FormsHaveTheSameLimit(t *testing.T) {
	for _, chunked := range []bool{false, true} {
		e := newEndpoint(t, func(e *endpoint) { e.settings.MaxBodyBytes = 8 })
		w := dial(t, e.serve(t).Listener.Addr().String())
		framed := "Content-Length: 11\r\n\r\na=123456789"
		if chunked {
			framed = "Transfer-Encoding: chunked\r\n\r\nb\r\na=123456789\r\n0\r\n\r\n"
		}
		w.write("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n" + forged + framed)
		if status, answer, _ := w.answer(); status != 413 {
			t.Errorf("chunked %t: got %d %s", chunked, status, answer)
		}
		if rest, err := io.ReadAll(w.reader); err != nil || len(rest) > 0 || len(e.outcomes) != 1 {
			t.Errorf("chunked %t: %d answers, then %q, %v", chunked, len(e.outcomes), rest, err)
		}
	}
}

// TestB39NothingIsDecompressed: signed over either form, and without the body being asked for.
func TestB39NothingIsDecompressed(t *testing.T) {
	var zipped, deflated bytes.Buffer
	z := gzip.NewWriter(&zipped)
	d, err := flate.NewWriter(&deflated, flate.BestCompression)
	if err := errors.Join(err, write(z, body), write(d, body)); err != nil {
		t.Fatal(err)
	}
	for encoding, content := range map[string]string{
		"gzip": zipped.String(), "GZIP": zipped.String(), "x-gzip": zipped.String(), "deflate": deflated.String(), "br": body, "zstd": body,
		"identity, gzip": zipped.String(),
	} {
		for _, over := range []string{content, body} {
			e := newEndpoint(t)
			status, answer := postRaw(t, e, signatureLine(t, over)+"Content-Encoding: "+encoding+"\r\n", content)
			if status != 415 || answer != `{"error":"unsupported_encoding"}` || e.ledger.calls() != 0 {
				t.Errorf("%s: got %d %s", encoding, status, answer)
			}
		}
	}
}

func write(w io.WriteCloser, text string) error {
	_, err := io.WriteString(w, text)
	return errors.Join(err, w.Close())
}

// TestB43OddShapesPanicNowhere: every JSON value in every place that is read.
func TestB43OddShapesPanicNowhere(t *testing.T) {
	values := []string{`null`, `true`, `0`, `-1`, `1e999`, `""`, `"x"`, `[]`, `[[]]`, `[null]`, `{}`, `{"":{}}`, `{"id":[]}`, strings.Repeat("[", 10_000), ``}
	for _, name := range scheme.Names() {
		s, _ := scheme.Preset(name)
		if s.Signature.Header == "" || s.Signature.Algorithm != scheme.SHA256 || strings.Contains(s.StringToSign, "{url}") {
			continue
		}
		e := newEndpoint(t, func(e *endpoint) {
			e.settings.Scheme, e.settings.MaxBodyBytes, e.settings.PublicURL = s, 1<<20, "https://hooks.example.com"+path
		})
		for _, value := range values {
			for _, format := range []string{
				`%s`, `{"event_id":%s}`, `{"id":%s,"type":%[1]s}`, `{"id":"e","event_id":"e","data":%s}`,
				`{"id":"e","event_id":"e","type":%s,"event_type":%[1]s,"data":{"object":%[1]s,"invoice_id":%[1]s}}`, `{"repository":{"default_branch":%s},"ref":%[1]s}`,
			} {
				content := fmt.Sprintf(format, value)
				w := e.post(signedAs(t, s, content))
				if w.Code >= 500 {
					t.Errorf("%s, %.80s: got %d %s", name, content, w.Code, w.Body)
				}
			}
		}
		if log := e.log.String(); strings.Contains(log, "panic") {
			t.Errorf("%s: %s", name, log)
		}
	}
}

// TestB50NoIDIsNoEvent: what has none does not share one, and nothing makes one up.
func TestB50NoIDIsNoEvent(t *testing.T) {
	e := newEndpoint(t)
	for _, content := range []string{`{"a":1}`, `{"a":2}`, `{"event_id":""}`} {
		if w := e.post(signed(t, content)); w.Code != http.StatusBadRequest || e.ledger.calls() != 0 {
			t.Errorf("%s: got %d %s", content, w.Code, w.Body)
		}
	}
	if n := e.count("rejected/" + receiver.CauseMissingEventID); n != 3 {
		t.Errorf("counts %v", e.counts)
	}
}
