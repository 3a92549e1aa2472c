// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// mount is a connection URI that may be changed, and the log of the ledger that reads it.
type mount struct {
	uri atomic.Value

	mu  sync.Mutex
	log bytes.Buffer
}

func (m *mount) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log.Write(p)
}

func (m *mount) logged() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log.String()
}

func (m *mount) options(o *ledger.Options) {
	o.URL = func() (string, error) { return m.uri.Load().(string), nil }
	o.Logger = slog.New(slog.NewTextHandler(m, nil))
}

func parts(t *testing.T, uri string) (host, name, password string) {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	password, _ = u.User.Password()
	if password == "" {
		t.Fatal("the test's URI has no password")
	}
	return u.Host, strings.TrimPrefix(u.Path, "/"), password
}

func TestNewTransactionsGoToTheNewDatabaseAndOldOnesFinish(t *testing.T) {
	before, after := newFixture(t), newFixture(t)
	m := &mount{}
	m.uri.Store(before.url)
	// Both connections are taken: what waits for one when the URI changes must not wait for the old database.
	l := before.open(m.options, func(o *ledger.Options) { o.MaxConns = 2 })
	gate := before.closeGate()
	old := make(chan []outcome, 1)
	go func() {
		old <- atOnce(t, []receiver.Event{event("evt_1"), event("evt_2")}, work("shop.gate"), func(int) *ledger.Ledger { return l })
	}()
	before.awaitWaiters("advisory", 2)
	waiting := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(t.Context(), event("evt_3"), work("shop.book"))
		waiting <- outcome{receipt, err}
	}()

	m.uri.Store(after.url)
	if err := l.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	record(t, l, event("evt_4"), work("shop.book"))
	if o := <-waiting; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("what waited for a connection: %v, kind %d", o.err, o.receipt.Kind)
	}
	after.wantCounts(map[string]int64{"shop.orders": 2, "hookonce.claim": 2})
	gate.open()
	for _, o := range <-old {
		if o.err != nil || o.receipt.Kind != receiver.Processed {
			t.Errorf("what was under way: %v, kind %d", o.err, o.receipt.Kind)
		}
	}
	before.wantCounts(map[string]int64{"shop.orders": 2, "hookonce.claim": 2})

	host, name, password := parts(t, after.url)
	if log := m.logged(); !strings.Contains(log, host+"/"+name) || strings.Contains(log, password) || strings.Contains(log, "app") {
		t.Errorf("the log: %s", log)
	}
	eventually(t, "the old database has no connection of ours left", func() bool {
		return value[int64](before, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'hookonce'") == 0
	})
}

func TestAURIThatCannotBeReadLeavesTheOneBefore(t *testing.T) {
	f := newFixture(t)
	m := &mount{}
	m.uri.Store(f.url)
	l := f.open(m.options)
	m.uri.Store("postgres://shop:p%zzA@Secret@db:5432/shop")
	for range 3 {
		if err := l.Reload(t.Context()); !errors.Is(err, database.ErrURI) || strings.Contains(err.Error(), "Secret") {
			t.Errorf("got %v", err)
		}
	}
	record(t, l, event("evt_1"), receiver.Work{})
	status := l.Check(t.Context())
	if !status.Reachable || status.Reason != "Connected" || !strings.Contains(status.Message, database.ErrURI.Error()) {
		t.Errorf("got %+v", status)
	}
	if log := m.logged(); strings.Count(log, "cannot be used") != 1 || strings.Contains(log, "Secret") {
		t.Errorf("the log: %s", log)
	}
	m.uri.Store(f.url)
	if err := l.Reload(t.Context()); err != nil {
		t.Error(err)
	}
	if status := l.Check(t.Context()); status.Message != "" {
		t.Errorf("got %+v", status)
	}
}

func TestNoPartOfThePasswordIsInAnError(t *testing.T) {
	for _, uri := range []string{"postgres://shop:p%zzA@Secret@db:5432/shop", "host=db password=a b Secret"} {
		_, openErr := ledger.Open(t.Context(), ledger.Options{URL: ledger.StaticURL(uri), Endpoint: "shop/payments"})
		for what, err := range map[string]error{"open": openErr, "migrate": ledger.Migrate(t.Context(), uri, "")} {
			if !errors.Is(err, database.ErrURI) || strings.Contains(err.Error(), "Secret") || strings.Contains(err.Error(), "shop") {
				t.Errorf("%s %s: got %v", what, uri, err)
				continue
			}
			if reason, message := ledger.Explain(err); reason != "Failed" || strings.Contains(message, "Secret") {
				t.Errorf("%s %s: explained as %s: %s", what, uri, reason, message)
			}
		}
	}
}
