// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverconfig"
)

// insideEffect counts the effects that wait at the gate: their claims are made and nothing is committed.
const insideEffect = `SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%on_invoice_paid%'`

// closeGate makes effects of slow events wait until the returned function is called.
func (s *shop) closeGate() func() {
	s.t.Helper()
	tx, err := s.db.Begin(s.t.Context())
	must(s.t, err)
	_, err = tx.Exec(s.t.Context(), "LOCK TABLE shop.gate IN ACCESS EXCLUSIVE MODE")
	must(s.t, err)
	open := sync.OnceFunc(func() { _ = tx.Rollback(context.Background()) })
	s.t.Cleanup(open)
	return open
}

// fork runs `receiver serve` as a process of its own.
func (s *shop) fork(args ...string) (*running, *exec.Cmd) {
	s.t.Helper()
	self, err := os.Executable()
	must(s.t, err)
	cmd := exec.Command(self, append(s.serveArgs(s.url), args...)...)
	cmd.Env = append(os.Environ(), asReceiver+"=1")
	log, err := cmd.StderrPipe()
	must(s.t, err)
	must(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	r := &running{}
	r.findAddresses(s.t, log)
	return r, cmd
}

func TestKillBetweenClaimAndCommit(t *testing.T) {
	out := newSink(t)
	s := newShop(t, out.URL)
	victim, process := s.fork()
	victim.ready(t)
	open := s.closeGate()
	args := []string{"--event-id", "slow_1", "--event-type", "invoice.paid", "--resource-id", "inv_1"}
	first := make(chan []sent, 1)
	go func() { first <- s.send(victim, args...) }()
	eventually(t, "the effect is under way", func() bool { return s.count(insideEffect) == 1 })
	must(t, process.Process.Signal(syscall.SIGKILL))
	_ = process.Wait()
	if answer := (<-first)[0]; answer.Status != 0 {
		t.Errorf("the killed receiver answered %d", answer.Status)
	}
	open()
	survivor := s.serve(s.serveArgs(s.url)).ready(t)
	eventually(t, "the event is accepted", func() bool { return s.send(survivor, args...)[0].Status == http.StatusOK })
	eventually(t, "the delivery is settled", func() bool { return s.count(waiting) == 0 })
	if n, calls := s.count(orders), len(out.seen()); n != 1 || calls != 1 {
		t.Errorf("%d orders and %d calls at the sink, want 1 and 1", n, calls)
	}
}

func TestDrainLosesNothing(t *testing.T) {
	out := newSink(t)
	answerSink := out.hold(t)
	s := newShop(t, out.URL)
	// What is counted can only have been written at the end.
	r := s.serve(append(s.serveArgs(s.url), "--counter-flush-interval", "1h")).ready(t)
	open := s.closeGate()
	first := make(chan []sent, 1)
	go func() {
		first <- s.send(r, "--event-id", "slow_1", "--event-type", "invoice.paid", "--resource-id", "inv_1")
	}()
	eventually(t, "the effect is under way", func() bool { return s.count(insideEffect) == 1 })
	r.stop()
	eventually(t, "the receiver is not ready any more", func() bool { return r.get("/readyz") == http.StatusServiceUnavailable })
	open()
	if answer := (<-first)[0]; answer.Status != http.StatusOK {
		t.Errorf("the request under way got %d %s", answer.Status, answer.Error)
	}
	eventually(t, "nobody is accepted any more", func() bool {
		conn, err := net.Dial("tcp", r.public)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	answerSink()
	if code := <-r.ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if n, calls := s.count(waiting), len(out.seen()); n != 0 || calls != 1 {
		t.Errorf("%d deliveries are left and the sink got %d, want 0 and 1", n, calls)
	}
	if n := s.count("SELECT coalesce(sum(n), 0)::bigint FROM hookonce.counter WHERE name = 'processed'"); n != 1 {
		t.Errorf("%d processed in the counters, want 1", n)
	}
}

func TestExhaustedDeliveryIsReplayedWithItsKey(t *testing.T) {
	out := newSink(t)
	out.status.Store(http.StatusBadGateway)
	s := newShop(t, out.URL)
	r := s.serve(s.serveArgs(s.url)).ready(t)
	s.send(r, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1")
	eventually(t, "the ladder runs out", func() bool { return s.count(failed) == 1 })
	eventually(t, "the status says so", func() bool {
		d := r.status(t).Deliveries
		return d != nil && d.Failed == 1 && d.LastFailure != nil && d.LastFailure.Reason == "answered 502"
	})
	replay := func(want string, args ...string) {
		t.Helper()
		args = append([]string{"replay", "--failed", "--config-dir", s.configDir, "--database-url", s.url}, args...)
		if code, text := command(t, args...); code != exitOK || !strings.HasPrefix(text, want+" ") {
			t.Errorf("replay: %d %q, want %s deliveries", code, text, want)
		}
	}
	replay("0", "--destination", "another")
	replay("0", "--event-id", "evt_2")
	replay("1", "--destination", "fulfilment", "--event-id", "evt_1")
	eventually(t, "it fails again", func() bool { return s.count(failed) == 1 && len(out.seen()) == 6 })
	out.status.Store(http.StatusOK)
	replay("1")
	eventually(t, "it is delivered", func() bool { return s.count(waiting) == 0 && s.count(failed) == 0 })
	var attempts []string
	for _, c := range out.seen() {
		attempts = append(attempts, c.Attempt)
	}
	if diff := cmp.Diff([]string{"1", "2", "3", "1", "2", "3", "1"}, attempts); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if keys := out.keys(); len(keys) != 1 {
		t.Errorf("keys %v, want one", keys)
	}
	eventually(t, "the status is clean", func() bool { return r.status(t).Deliveries.Failed == 0 })
	if n := s.count(orders); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
}

func TestDeadDestinationHoldsNoOther(t *testing.T) {
	out := newSink(t)
	stuck := make(chan struct{})
	silent := newSilent(t, stuck)
	defer close(stuck)
	s := newShop(t, out.URL)
	slow := s.config.Destinations[0]
	slow.Name, slow.URL = "silent", silent
	slow.Timeout = receiverconfig.Duration(5 * time.Second)
	s.config.Destinations = append(s.config.Destinations, slow)
	s.writeConfig()
	r := s.serve(s.serveArgs(s.url)).ready(t)
	for range 10 {
		s.send(r, "--event-type", "invoice.sent", "--repeat", "1")
	}
	eventually(t, "the healthy destination has everything", func() bool { return len(out.seen()) == 10 })
	if n := s.count(waiting + " WHERE destination = 'silent'"); n != 10 {
		t.Errorf("%d deliveries wait for the silent destination, want 10", n)
	}
}

func newSilent(t *testing.T, until <-chan struct{}) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-until:
		case <-r.Context().Done():
		}
	})
	return serveMux(t, mux)
}
