// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// signedSink answers with 200 to what is signed by the key, and with 401 to everything else.
func signedSink(t *testing.T, key string) (url string, taken chan string) {
	t.Helper()
	taken = make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(r.Header.Get("webhook-id") + "." + r.Header.Get("webhook-timestamp") + "." + string(body)))
		if r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		taken <- r.Header.Get("webhook-id")
	}))
	t.Cleanup(server.Close)
	return server.URL, taken
}

// A destination whose signing secret is missing waits without attempts, and another goes on; both get everything once the
// secret is there.
func TestSignedDestinationWaitsForItsSecret(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef"
	url, taken := signedSink(t, key)
	plain := newSink(t)
	s := newShop(t, url)
	other := s.config.Destinations[0]
	other.Name, other.URL = "plain", plain.URL
	s.config.Destinations[0].Signed = true
	s.config.Destinations = append(s.config.Destinations, other)
	s.writeConfig()
	secrets := t.TempDir()
	r := s.serve(append(s.serveArgs(s.url), "--destination-secrets-dir", secrets)).ready(t)
	s.send(r, "--event-type", "invoice.paid", "--resource-id", "inv_1")
	eventually(t, "the other destination has the event", func() bool { return len(plain.seen()) == 1 })
	want := []receiverstatus.Destination{{
		Name: "fulfilment", Field: receiverstatus.FieldSigning, Problem: "the Secret or its key is missing, or has not reached the pod yet",
	}}
	if diff := cmp.Diff(want, r.status(t).Destinations); diff != "" {
		t.Errorf("destinations in the status (-want +got):\n%s", diff)
	}
	if n := s.count("SELECT count(*) FROM hookonce.delivery WHERE destination = 'fulfilment' AND attempts = 0"); n != 1 {
		t.Errorf("%d deliveries wait without attempts, want 1", n)
	}
	replace(t, filepath.Join(secrets, "fulfilment.signing"), []byte("whsec_"+base64.StdEncoding.EncodeToString([]byte(key))))
	eventually(t, "the status has no problem", func() bool { return len(r.status(t).Destinations) == 0 })
	s.send(r, "--event-type", "invoice.paid", "--resource-id", "inv_2")
	<-taken
	// What waited was born leased to this receiver.
	s.exec("UPDATE hookonce.delivery SET leased_until = now()")
	<-taken
	eventually(t, "nothing is pending", func() bool { return s.count("SELECT count(*) FROM hookonce.delivery") == 0 })
}

// Where nothing else is said, a destination on the pod's own loopback gets nothing, and its failure says why.
func TestLoopbackDestinationIsRefused(t *testing.T) {
	sink := newSink(t)
	s := newShop(t, sink.URL)
	args := s.serveArgs(s.url)
	at := slices.Index(args, "--destination-networks")
	r := s.serve(slices.Delete(args, at, at+2)).ready(t)
	s.send(r, "--event-type", "invoice.paid", "--resource-id", "inv_1")
	eventually(t, "the delivery has failed", func() bool {
		return s.count("SELECT count(*) FROM hookonce.failed_delivery WHERE reason = $1",
			"address 127.0.0.1 is not allowed for a destination: loopback") == 1
	})
	if n := len(sink.seen()); n != 0 {
		t.Errorf("%d requests reached loopback", n)
	}
}
