// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

const (
	firstSigning  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	secondSigning = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

func TestSigningKeys(t *testing.T) {
	tests := map[string]struct {
		file  content
		keys  int
		fault string
	}{
		"one":           {content{data: []byte(firstSigning + "\n")}, 1, ""},
		"two":           {content{data: []byte(firstSigning + "\r\n" + secondSigning)}, 2, ""},
		"none":          {content{data: []byte(" \n")}, 0, "the signing secret is empty"},
		"five":          {content{data: []byte(strings.Repeat(firstSigning+" ", 5))}, 0, "more than 4"},
		"not base64":    {content{data: []byte("whsec_!canary!canary!canary!canary!")}, 0, "signing secret 1: "},
		"second is bad": {content{data: []byte(firstSigning + " whsec_canary")}, 0, "signing secret 2: "},
		"not readable":  {content{err: errors.New("permission denied")}, 0, "permission denied"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			keys, err := signingKeys(tt.file)
			if len(keys) != tt.keys || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%d keys, error %v; want %d, error with %q", len(keys), err, tt.keys, tt.fault)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("error %q quotes the secret", err)
			}
		})
	}
}

func TestSecretsOfDestinationsAreFollowed(t *testing.T) {
	p := newPod(t)
	p.destinations(t, "crm", "fulfilment", "plain", "queue")
	secrets := newVolume(t)
	store := p.openOutgoing(secrets.dir)
	missing := func(name, field string) receiverstatus.Destination {
		return receiverstatus.Destination{Name: name, Field: field, Problem: errNotMounted.Error()}
	}
	crm, queue := missing("crm", receiverstatus.FieldSigning), missing("queue", receiverstatus.FieldCredentials)
	want := []receiverstatus.Destination{crm, missing("fulfilment", receiverstatus.FieldSigning), queue}
	if diff := cmp.Diff(want, report(store).Destinations); diff != "" {
		t.Errorf("destinations without secrets (-want +got):\n%s", diff)
	}
	secrets.write(t, "fulfilment.signing", []byte(firstSigning))
	if !store.Reload() {
		t.Fatal("a signing secret that arrived was not noticed")
	}
	if diff := cmp.Diff([]receiverstatus.Destination{crm, queue}, report(store).Destinations); diff != "" {
		t.Errorf("destinations after one secret arrived (-want +got):\n%s", diff)
	}
	outgoing := store.Current().Outgoing
	if _, usable := outgoing["crm"]; usable || len(outgoing["fulfilment"].SigningKeys) != 1 {
		t.Errorf("crm is usable: %t, and fulfilment has %d keys, want false and 1", usable, len(outgoing["fulfilment"].SigningKeys))
	}
	if _, usable := outgoing["plain"]; !usable {
		t.Error("a destination that needs no secret cannot be used")
	}
	if store.Reload() {
		t.Error("what has not changed was loaded again")
	}
}

func TestCredentialsAreTheFilesText(t *testing.T) {
	if got, err := credentials(content{data: []byte(" hookonce:test \r\n")}); err != nil || string(got) != "hookonce:test" {
		t.Errorf("credentials %q, %v", got, err)
	}
	if _, err := credentials(content{data: []byte("\n")}); err == nil {
		t.Error("empty credentials can be used")
	}
}
