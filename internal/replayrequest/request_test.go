// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package replayrequest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestRoundTrip(t *testing.T) {
	want := &Request{
		Version: Version, ID: uuid.New(), Name: "shop/crm-outage", RequestedBy: "ops@shop.example", Reason: "the CRM was down",
		Selector: Selector{
			State: Failed, Destination: "crm", EventTypes: []string{"invoice.*"}, EventIDs: []string{"evt_1"}, Reason: "503",
			ReceivedAfter: time.Unix(1_700_000_000, 0).UTC(), ReceivedBefore: time.Unix(1_700_000_001, 0).UTC(),
		},
		Send: true, RatePerSecond: 10, StopAfterFailures: 3,
	}
	document, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	const id = `"id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8"`
	tests := map[string]struct{ document, want string }{
		"nothing":            {``, "EOF"},
		"no version":         {`{` + id + `,"selector":{"state":"Failed"},"send":true}`, "version 0"},
		"later version":      {`{"version":2,` + id + `,"selector":{"state":"Failed"},"send":true}`, "version 2"},
		"no id":              {`{"version":1,"selector":{"state":"Failed"},"send":true}`, "id is missing"},
		"unknown field":      {`{"version":1,` + id + `,"selector":{"state":"Failed","phase":"x"},"send":true}`, "phase"},
		"state":              {`{"version":1,` + id + `,"selector":{"state":"Pending"},"send":true}`, "Pending"},
		"reason of success":  {`{"version":1,` + id + `,"selector":{"state":"Delivered","reason":"503"},"send":true}`, "selector.reason"},
		"times":              {`{"version":1,` + id + `,"selector":{"state":"Failed","receivedAfter":"2026-12-01T00:00:00Z","receivedBefore":"2026-12-01T00:00:00Z"},"send":true}`, "receivedAfter"},
		"negative rate":      {`{"version":1,` + id + `,"selector":{"state":"Failed"},"send":true,"ratePerSecond":-1}`, "ratePerSecond"},
		"something after it": {`{"version":1,` + id + `,"selector":{"state":"Failed"},"send":true} {}`, "more after"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(tt.document)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v does not say %q", err, tt.want)
			}
		})
	}
}
