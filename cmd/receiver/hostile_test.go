// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
)

// The tests of this file are rows of docs/hostile-input.md that need a real database; more rows are where their subject is.

// post signs a body as the endpoint's scheme has it and returns the answer.
func (s *shop) post(r *running, draft verify.Draft, change ...func(http.Header)) (int, string) {
	s.t.Helper()
	header, err := verify.Sign(s.config.Scheme, [][]byte{[]byte(firstSecret)}, draft, time.Now())
	must(s.t, err)
	for _, c := range change {
		c(header)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+r.public+s.config.Path, bytes.NewReader(draft.Body))
	must(s.t, err)
	request.Header = header
	answer, err := http.DefaultClient.Do(request)
	must(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(s.t, err)
	return answer.StatusCode, string(text)
}

// oddBodies are bodies that a parser or a database may take for something else.
func oddBodies() map[string]string {
	bodies := map[string]string{}
	for name, value := range map[string]string{
		"B23": `"😊 Plaça \u2028"`, "B24": `"Foo\n\u001B[34mbar: \u2665 \u001b[0m" , "y" :  1`,
		"B27": `"x\u0000y","\u0000":1`, "B28": `"\ud83d","b":"\udc00\ud83d","c":"\\u0000"`,
		"B30": `8202522731445525542,"f":1e400,"d":0.1000000000000000055`,
	} {
		bodies[name] = `{"event_id":"evt_` + name + `","event_type":"invoice.sent","a":` + value + "}\r\n"
	}
	return bodies
}

// TestB23B24B27B28B30BytesReachTheTableAndTheDestination: with nothing changed, and an answer that ends the retries.
func TestB23B24B27B28B30BytesReachTheTableAndTheDestination(t *testing.T) {
	out := newSink(t)
	s := newShop(t, out.URL)
	r := s.serve(s.serveArgs(s.url)).ready(t)
	for name, body := range oddBodies() {
		if code, text := s.post(r, verify.Draft{Body: []byte(body)}); code != http.StatusOK {
			t.Errorf("%s: got %d %s", name, code, text)
		}
		if n := s.count("SELECT count(*) FROM hookonce.event WHERE event_id = $1 AND body = $2", "evt_"+name, []byte(body)); n != 1 {
			t.Errorf("%s: %d rows have these bytes", name, n)
		}
	}
	eventually(t, "the destination has all", func() bool { return len(out.seen()) == len(oddBodies()) })
	for _, c := range out.seen() {
		if want := oddBodies()[strings.TrimPrefix(c.EventID, "evt_")]; c.Body != want {
			t.Errorf("%s: the destination got %q, want %q", c.EventID, c.Body, want)
		}
	}
}

// TestB38TheLimitFollowsTheConfiguration: without a restart.
func TestB38TheLimitFollowsTheConfiguration(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	body := []byte(`{"event_id":"evt_1","pad":"` + strings.Repeat("x", 1200<<10) + `"}`)
	if code, text := s.post(r, verify.Draft{Body: body}); code != http.StatusRequestEntityTooLarge {
		t.Errorf("1.2 MiB with a limit of 1 MiB: got %d %s", code, text)
	}
	s.config.MaxBodyBytes = 20 << 20
	s.writeConfig()
	eventually(t, "1.2 MiB are accepted", func() bool {
		code, _ := s.post(r, verify.Draft{Body: body})
		return code == http.StatusOK
	})
}

// TestB47AFailureLeavesNoClaim: the redelivery is processed once the effect can be.
func TestB47AFailureLeavesNoClaim(t *testing.T) {
	s := newShop(t, "")
	s.exec("ALTER TABLE shop.orders ADD CONSTRAINT broken CHECK (false)")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	draft := verify.Draft{Body: []byte(`{"event_id":"evt_1","event_type":"invoice.paid","data":{"invoice_id":"inv_1"}}`)}
	if code, text := s.post(r, draft); code != http.StatusServiceUnavailable || s.count("SELECT count(*) FROM hookonce.claim") != 0 {
		t.Errorf("got %d %s", code, text)
	}
	s.exec("ALTER TABLE shop.orders DROP CONSTRAINT broken")
	if code, text := s.post(r, draft); code != http.StatusOK || s.count(orders) != 1 {
		t.Errorf("the redelivery got %d %s", code, text)
	}
}

// TestB51EndpointsDoNotShareIDs: in one database, the id of one endpoint is nothing to the other.
func TestB51EndpointsDoNotShareIDs(t *testing.T) {
	s := newShop(t, "")
	first := s.serve(s.serveArgs(s.url)).ready(t)
	draft := verify.Draft{Body: []byte(`{"event_id":"evt_1"}`)}
	if code, _ := s.post(first, draft); code != http.StatusOK {
		t.Errorf("got %d", code)
	}
	first.stop()
	<-first.ended
	s.config.Endpoint = "shop/other"
	s.writeConfig()
	second := s.serve(s.serveArgs(s.url)).ready(t)
	if code, text := s.post(second, draft); code != http.StatusOK || s.count("SELECT count(*) FROM hookonce.claim") != 2 {
		t.Errorf("got %d %s", code, text)
	}
}

// TestAdvisory_CVE_2021_45327: a captured delivery whose id is not signed has one effect under 10,000 fresh ids.
func TestAdvisory_CVE_2021_45327(t *testing.T) {
	s := newShop(t, "")
	github, _ := scheme.Preset(scheme.GitHub)
	s.config.Scheme = github
	s.config.Effects[0].EventTypes, s.config.Effects[0].Key = []string{"*"}, "Event"
	s.writeConfig()
	r := s.serve(s.serveArgs(s.url)).ready(t)
	var senders sync.WaitGroup
	var accepted atomic.Int64
	next := atomic.Int64{}
	for range 8 {
		senders.Go(func() {
			for n := next.Add(1); n <= 10_000; n = next.Add(1) {
				code, _ := s.post(r, verify.Draft{EventID: fmt.Sprintf("fresh-%d", n), EventType: "push", Body: []byte(`{"captured":true}`)})
				if code == http.StatusOK {
					accepted.Add(1)
				}
			}
		})
	}
	senders.Wait()
	if n := s.count(orders); n != 1 || accepted.Load() == 0 {
		t.Errorf("%d effects, want 1; %d were accepted", n, accepted.Load())
	}
}

// TestAdvisory_CVE_2020_8565: a secret in any writing is in no log, status, metric, row or answer, whatever goes wrong.
func TestAdvisory_CVE_2020_8565(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(append(s.serveArgs(s.url), "--log-level", "DEBUG")).ready(t)
	var answers strings.Builder
	for _, change := range []func(http.Header){
		func(http.Header) {}, func(h http.Header) { h.Set("X-Webhook-Signature", firstSecret) },
		func(h http.Header) { h.Set("Authorization", firstSecret) }, func(h http.Header) { h.Set("Cookie", firstSecret) },
	} {
		for _, body := range []string{`{"event_id":"evt_1"}`, `{"event_id":"evt_1","other":1}`, `{`} {
			_, text := s.post(r, verify.Draft{Body: []byte(body)}, change)
			answers.WriteString(text)
		}
	}
	status, err := json.Marshal(r.status(t))
	must(t, err)
	answer, err := http.Get("http://" + r.private + "/metrics")
	must(t, err)
	metrics, err := io.ReadAll(answer.Body)
	must(t, err)
	must(t, answer.Body.Close())
	rows, err := s.db.Query(t.Context(), "SELECT encode(headers, 'escape') FROM hookonce.event")
	must(t, err)
	for rows.Next() {
		values, err := rows.Values()
		must(t, err)
		fmt.Fprint(&answers, values...)
	}
	must(t, rows.Err())
	raw := []byte(firstSecret)
	for where, text := range map[string]string{"log": r.logged(), "status": string(status), "metrics": string(metrics), "rows and answers": answers.String()} {
		for _, canary := range []string{firstSecret, base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw), hex.EncodeToString(raw), url.QueryEscape(firstSecret)} {
			if strings.Contains(text, canary) {
				t.Errorf("the %s has the secret as %q", where, canary)
			}
		}
	}
}

// TestAdvisory_CVE_2024_27289: what looks like SQL is text, in ids, types, headers and names of endpoints.
func TestAdvisory_CVE_2024_27289(t *testing.T) {
	s := newShop(t, "")
	s.config.Endpoint = `shop/'";$$--`
	s.writeConfig()
	r := s.serve(s.serveArgs(s.url)).ready(t)
	for n, text := range []string{`'";--`, `$$);DROP`, `\\');--`, `-1`, `$1`, `%s`} {
		id := fmt.Sprintf("%d%s", n, strings.ReplaceAll(text, `\\`, `\`))
		body, err := json.Marshal(map[string]any{"event_id": id, "event_type": text, "data": map[string]any{"invoice_id": text}})
		must(t, err)
		if code, answer := s.post(r, verify.Draft{Body: body}, func(h http.Header) { h.Set("User-Agent", text) }); code != http.StatusOK {
			t.Errorf("%s: got %d %s", text, code, answer)
		}
		if found := s.count("SELECT count(*) FROM hookonce.event WHERE event_id = $1 AND event_type = $2 AND resource_id = $2", id, text); found != 1 {
			t.Errorf("%s: %d rows", text, found)
		}
	}
}

// TestAdvisory_CVE_2022_21698: no method, path, id or cause of a sender's makes a time series.
func TestAdvisory_CVE_2022_21698(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	probe := func(n int) {
		word := fmt.Sprintf("w%d", n)
		for _, line := range []string{"POST /" + word, word + " " + s.config.Path, "POST " + s.config.Path + "?" + word} {
			method, target, _ := strings.Cut(line, " ")
			request, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.public+target, strings.NewReader(`{"event_id":"`+word+`"}`))
			must(t, err)
			request.Header.Set("X-Webhook-Signature", "t="+word+",v1="+word)
			answer, err := http.DefaultClient.Do(request)
			must(t, err)
			must(t, answer.Body.Close())
		}
	}
	series := func() []string {
		answer, err := http.Get("http://" + r.private + "/metrics")
		must(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		must(t, err)
		var names []string
		for line := range strings.Lines(string(text)) {
			// The database's figures come with the first sample, which no sender decides.
			if name, _, found := strings.Cut(line, "} "); found && strings.HasPrefix(line, "hookonce_") {
				names = append(names, name)
			}
		}
		return names
	}
	probe(0)
	before := series()
	for n := range 200 {
		probe(n)
	}
	if diff := cmp.Diff(before, series()); diff != "" {
		t.Errorf("series before (-) and after (+) what senders tried:\n%s", diff)
	}
}
