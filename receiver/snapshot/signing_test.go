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

func TestSigningSecretsAreFollowed(t *testing.T) {
	p := newPod(t)
	p.destinations(t, "crm", "fulfilment", "plain")
	signing := newVolume(t)
	store := p.openSigning(signing.dir)
	missing := func(name string) receiverstatus.Destination {
		return receiverstatus.Destination{Name: name, Problem: errNotMounted.Error()}
	}
	want := []receiverstatus.Destination{missing("crm"), missing("fulfilment")}
	if diff := cmp.Diff(want, report(store).Destinations); diff != "" {
		t.Errorf("destinations without secrets (-want +got):\n%s", diff)
	}
	signing.write(t, "fulfilment", []byte(firstSigning))
	if !store.Reload() {
		t.Fatal("a signing secret that arrived was not noticed")
	}
	if diff := cmp.Diff([]receiverstatus.Destination{missing("crm")}, report(store).Destinations); diff != "" {
		t.Errorf("destinations after one secret arrived (-want +got):\n%s", diff)
	}
	if signing := store.Current().Signing; len(signing["fulfilment"]) != 1 || len(signing["crm"]) != 0 {
		t.Errorf("%d keys for fulfilment and %d for crm, want 1 and 0", len(signing["fulfilment"]), len(signing["crm"]))
	}
	if store.Reload() {
		t.Error("what has not changed was loaded again")
	}
}
