// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A destination on NATS waits for its credentials, and then gets each event once into its stream, however often the provider
// and the relay repeat themselves.
func TestEventsReachAStream(t *testing.T) {
	bus, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		Username: "hookonce", Password: "test-password",
	})
	if err != nil {
		t.Fatal(err)
	}
	go bus.Start()
	t.Cleanup(bus.Shutdown)
	if !bus.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server did not start")
	}
	conn, err := nats.Connect(bus.ClientURL(), nats.UserInfo("hookonce", "test-password"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "SHOP", Subjects: []string{"shop.>"}})
	if err != nil {
		t.Fatal(err)
	}

	s := newShop(t, "http://bus.test")
	to := &s.config.Destinations[0]
	to.URL, to.Subject, to.LogsIn = bus.ClientURL(), "shop.{eventType}", true
	s.writeConfig()
	secrets := t.TempDir()
	r := s.serve(append(s.serveArgs(s.url), "--destination-secrets-dir", secrets)).ready(t)
	s.send(r, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1", "--repeat", "3")
	if n := s.count("SELECT count(*) FROM hookonce.delivery WHERE attempts = 0"); n != 1 {
		t.Fatalf("%d deliveries wait without attempts, want 1", n)
	}
	replace(t, filepath.Join(secrets, "fulfilment.credentials"), []byte("hookonce:test-password\n"))
	eventually(t, "the status has no problem", func() bool { return len(r.status(t).Destinations) == 0 })
	s.exec("UPDATE hookonce.delivery SET leased_until = now()")
	eventually(t, "nothing is pending", func() bool { return s.count("SELECT count(*) FROM hookonce.delivery") == 0 })
	info, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	message, err := stream.GetLastMsgForSubject(t.Context(), "shop.invoice.paid")
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Msgs != 1 || message.Header.Get("Hookonce-Event-Id") != "evt_1" {
		t.Errorf("%d messages in the stream, the last with headers %v; want evt_1 alone", info.State.Msgs, message.Header)
	}
}
