// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package keyring_test

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

// stored is a keyring as the first release wrote it, with every field that it has.
const stored = `{"version":1,"revision":7,"salt":"c3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3M=",` +
	`"current":{"fingerprint":"1111111111111111111111111111111111111111111111111111111111111111","secret":"YmV0YQ==",` +
	`"added":"2026-10-01T09:00:00Z","source":{"name":"webhook","key":"secret"},"rotation":"uid-beta"},` +
	`"previous":[{"fingerprint":"2222222222222222222222222222222222222222222222222222222222222222","secret":"YWxwaGE=",` +
	`"added":"2026-09-01T09:00:00Z","source":{"name":"webhook","key":"secret"},"notAfter":"2026-10-02T09:01:00Z",` +
	`"final":true,"overlapStart":"2026-10-01T09:01:00Z","replacedBy":"uid-beta","replacedRevision":5}],` +
	`"tombstones":[{"fingerprint":"3333333333333333333333333333333333333333333333333333333333333333",` +
	`"time":"2026-09-30T09:00:00Z","reason":"Revoked","rotation":"uid-older","revision":4}]}`

// A keyring of the release before is read, and one whose deadline a use has moved on is written as that release reads it.
func TestKeyringsOfTheReleaseBefore(t *testing.T) {
	k, err := keyring.Parse([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(encode(t, k)); got != stored {
		t.Errorf("written again as\n%s, was\n%s", got, stored)
	}
	former := k.Previous[0]
	moved, err := k.Finalize(former.Fingerprint, former.OverlapStart.Add(23*time.Hour), former.OverlapStart, former.NotAfter.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	again, err := keyring.Parse(encode(t, moved))
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Previous[0]; !got.OverlapStart.Equal(former.OverlapStart) || !got.NotAfter.Equal(former.NotAfter.Add(time.Hour)) {
		t.Errorf("overlap from %v until %v", got.OverlapStart, got.NotAfter)
	}
}
