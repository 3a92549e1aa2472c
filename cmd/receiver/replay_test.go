// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/replayrequest"
)

// failing is a shop with a receiver and so many failed deliveries.
func failing(t *testing.T, n int) (*shop, *sink, *running) {
	t.Helper()
	out := newSink(t)
	// An answer that blames the deliveries holds none back.
	out.status.Store(http.StatusBadRequest)
	s := newShop(t, out.URL)
	s.config.Destinations[0].Delays = nil
	s.writeConfig()
	r := s.serve(s.serveArgs(s.url)).ready(t)
	for range n {
		s.send(r, "--event-type", "invoice.paid", "--resource-id", "inv_1")
	}
	eventually(t, "all deliveries have failed", func() bool {
		return s.count("SELECT count(*) FROM hookonce.failed_delivery") == int64(n)
	})
	return s, out, r
}

func (s *shop) replay(t *testing.T, request *replayrequest.Request) (int, string) {
	t.Helper()
	document, err := request.Encode()
	must(t, err)
	return command(t, "replay", "--config-dir", s.configDir, "--database-url", s.url, "--request", string(document))
}

func TestRequestIsCountedAndThenSentOnce(t *testing.T) {
	s, out, r := failing(t, 1)
	request := &replayrequest.Request{
		ID: uuid.New(), Name: "crm-outage", Reason: "mended", Selector: replayrequest.Selector{State: replayrequest.Failed},
	}
	if code, text := s.replay(t, request); code != exitOK || !strings.Contains(text, "1 deliveries match, 0 put back") {
		t.Fatalf("counting: exit code %d, %s", code, text)
	}
	out.status.Store(http.StatusOK)
	request.Send = true
	for range 2 {
		if code, text := s.replay(t, request); code != exitOK || !strings.Contains(text, "1 deliveries match, 1 put back") {
			t.Fatalf("sending: exit code %d, %s", code, text)
		}
	}
	eventually(t, "the status says that it succeeded", func() bool {
		replays := r.status(t).Replays
		return len(replays) == 1 && replays[0].ID == request.ID.String() && replays[0].Succeeded == 1 && replays[0].Ended
	})
	if keys := out.keys(); len(out.seen()) != 2 || len(keys) != 1 {
		t.Errorf("%d attempts with the keys %v, want 2 with one", len(out.seen()), keys)
	}
}

// A replay to a destination that is still down stops, and leaves the rest where it was.
func TestReplayStopsAfterFailures(t *testing.T) {
	s, _, _ := failing(t, 20)
	request := &replayrequest.Request{
		ID: uuid.New(), Name: "too-early", Selector: replayrequest.Selector{State: replayrequest.Failed}, Send: true,
		RatePerSecond: 4, StopAfterFailures: 3,
	}
	began := time.Now()
	code, text := s.replay(t, request)
	if code != exitOK || !strings.Contains(text, "; stopped after ") {
		t.Fatalf("exit code %d, %s", code, text)
	}
	sent := s.count("SELECT sent FROM hookonce.replay")
	if most := 4 * (2 + int64(time.Since(began)/time.Second)); sent < 3 || sent > min(most, 19) {
		t.Errorf("%d of 20 were sent, at 4 a second in %s", sent, time.Since(began))
	}
	eventually(t, "everything is failed again", func() bool { return s.count("SELECT count(*) FROM hookonce.failed_delivery") == 20 })
}

func TestRequestedReplayIsSentAfterAKill(t *testing.T) {
	s, out, r := failing(t, 12)
	out.status.Store(http.StatusOK)
	request := &replayrequest.Request{
		ID: uuid.New(), Name: "killed", Selector: replayrequest.Selector{State: replayrequest.Failed}, Send: true, RatePerSecond: 4,
	}
	document, err := request.Encode()
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	process := exec.Command(self, "replay", "--config-dir", s.configDir, "--database-url", s.url, "--request", string(document))
	process.Env = append(os.Environ(), asReceiver+"=1")
	must(t, process.Start())
	eventually(t, "a part is sent", func() bool { return s.count("SELECT coalesce(sum(sent), 0)::bigint FROM hookonce.replay") > 0 })
	must(t, process.Process.Kill())
	_ = process.Wait()
	if code, text := s.replay(t, request); code != exitOK || !strings.Contains(text, "12 deliveries match, 12 put back") {
		t.Fatalf("exit code %d, %s", code, text)
	}
	want := receiverstatus.Replay{Matched: 12, Sent: 12, Succeeded: 12, Ended: true}
	eventually(t, "all are delivered once", func() bool {
		replays := r.status(t).Replays
		if len(replays) != 1 {
			return false
		}
		got := replays[0]
		got.ID, got.Name, got.Created = "", "", time.Time{}
		return got == want
	})
}
