// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package keyring_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/keyring"
)

func TestPromoteKeepsTheFormerUntilItsDeadline(t *testing.T) {
	deadline := start.Add(25 * time.Hour)
	k := adopt(t, "alpha")
	next := promote(t, k, "beta", start.Add(time.Minute), deadline)

	if next.Revision != k.Revision+1 {
		t.Errorf("revision %d after %d", next.Revision, k.Revision)
	}
	if diff := cmp.Diff([]string{"beta", "alpha"}, names(next)); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	former := next.Previous[0]
	if !former.NotAfter.Equal(deadline) || former.Final || former.ReplacedBy != "uid-beta" || former.ReplacedRevision != next.Revision {
		t.Errorf("former secret: %+v", former)
	}
	if got, ok := next.ReplacedBy("uid-beta"); !ok || got.Fingerprint != fingerprint(k, "alpha") {
		t.Errorf("ReplacedBy found %t, %+v", ok, got)
	}
	if !next.Current.Added.Equal(start.Add(time.Minute)) || next.Current.Source.Name != "webhook-beta" {
		t.Errorf("current secret: %+v", next.Current)
	}
}

func TestPromoteOfAPreviousSecretRevertsWithoutDuplicate(t *testing.T) {
	k := promote(t, adopt(t, "alpha"), "beta", start, start.Add(time.Hour))
	revert := candidate("alpha")
	revert.Rotation = "uid-revert"
	k, evicted, err := k.Promote(revert, start.Add(time.Minute), start.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"alpha", "beta"}, names(k)); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if !k.Current.NotAfter.IsZero() || k.Current.ReplacedBy != "" || len(evicted) != 0 || len(k.Tombstones) != 0 {
		t.Errorf("current %+v, evicted %v, tombstones %v", k.Current, evicted, k.Tombstones)
	}
	if k.Previous[0].ReplacedBy != "uid-revert" {
		t.Errorf("beta was replaced by %q", k.Previous[0].ReplacedBy)
	}
	if _, err := k.Encode(); err != nil {
		t.Error(err)
	}
}

func TestPromoteEvictsTheEarliestExpiringButNotTheLatestFormer(t *testing.T) {
	k := adopt(t, "alpha")
	k = promote(t, k, "beta", start, start.Add(3*time.Hour))                             // alpha until +3h
	k = promote(t, k, "gamma", start, start.Add(2*time.Hour))                            // beta until +2h
	k = promote(t, k, "delta", start, start.Add(4*time.Hour))                            // gamma until +4h
	next, evicted, err := k.Promote(candidate("epsilon"), start, start.Add(time.Minute)) // delta until +1m
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"epsilon", "delta", "gamma", "alpha"}, names(next)); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if len(evicted) != 1 || evicted[0].Fingerprint != fingerprint(k, "beta") {
		t.Errorf("evicted %v", evicted)
	}
	tombstone, ok := next.RetiredBy("uid-gamma")
	if !ok || tombstone.Fingerprint != fingerprint(k, "beta") || tombstone.Reason != keyring.Expired || tombstone.Revision != next.Revision {
		t.Errorf("tombstone %t %+v", ok, tombstone)
	}
}

func TestPromoteRefuses(t *testing.T) {
	k := promote(t, adopt(t, "alpha"), "beta", start, start.Add(time.Hour))
	if _, _, err := k.Promote(candidate("beta"), start, start); !errors.Is(err, keyring.ErrAlreadyCurrent) {
		t.Errorf("current secret: %v", err)
	}
	if _, _, err := k.Promote(keyring.Candidate{}, start, start); err == nil {
		t.Error("promoted an empty secret")
	}
	revoked, err := k.Revoke(fingerprint(k, "alpha"), start)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := revoked.Promote(candidate("alpha"), start, start); !errors.Is(err, keyring.ErrRevoked) {
		t.Errorf("revoked secret: %v", err)
	}
}

func TestAnExpiredSecretMayComeBackAndLosesItsTombstone(t *testing.T) {
	deadline := start.Add(time.Hour)
	k := promote(t, adopt(t, "alpha"), "beta", start, deadline).Retire(deadline)
	if k.Standing(candidate("alpha")) != keyring.IsExpired {
		t.Fatal("alpha has no tombstone")
	}
	k = promote(t, k, "alpha", deadline, deadline.Add(time.Hour))
	if diff := cmp.Diff([]string{"alpha", "beta"}, names(k)); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if len(k.Tombstones) != 0 {
		t.Errorf("tombstones %v", k.Tombstones)
	}
}

func TestDeadlines(t *testing.T) {
	ceiling, final := start.Add(25*time.Hour), start.Add(24*time.Hour)
	k := promote(t, adopt(t, "alpha"), "beta", start, ceiling)
	alpha := fingerprint(k, "alpha")

	extended, err := k.Extend(alpha, start, ceiling.Add(time.Hour))
	if err != nil || !extended.Previous[0].NotAfter.Equal(ceiling.Add(time.Hour)) || extended.Previous[0].Final {
		t.Errorf("Extend: %v, %+v", err, extended)
	}
	if _, err := k.Extend(alpha, ceiling, ceiling.Add(time.Hour)); !errors.Is(err, keyring.ErrFinal) {
		t.Errorf("Extend of an expired secret: %v", err)
	}
	if _, err := k.Finalize(alpha, ceiling, start, ceiling.Add(time.Hour)); !errors.Is(err, keyring.ErrFinal) {
		t.Errorf("Finalize of an expired secret: %v", err)
	}
	done, err := k.Finalize(alpha, start, start, final)
	if err != nil {
		t.Fatal(err)
	}
	if e := done.Previous[0]; !e.Final || !e.NotAfter.Equal(final) || !e.OverlapStart.Equal(start) {
		t.Errorf("Finalize: %+v", e)
	}
	if _, err := done.Extend(alpha, start, ceiling); !errors.Is(err, keyring.ErrFinal) {
		t.Errorf("Extend of a final deadline: %v", err)
	}
	for name, change := range map[string]func(string) error{
		"Extend":   func(f string) error { _, err := k.Extend(f, start, ceiling); return err },
		"Finalize": func(f string) error { _, err := k.Finalize(f, start, start, final); return err },
		"Revoke":   func(f string) error { _, err := k.Revoke(f, start); return err },
	} {
		if err := change(fingerprint(k, "beta")); !errors.Is(err, keyring.ErrNotFound) {
			t.Errorf("%s of the current secret: %v", name, err)
		}
	}
}

func TestRetire(t *testing.T) {
	k := promote(t, adopt(t, "alpha"), "beta", start, start.Add(time.Hour))
	k = promote(t, k, "gamma", start, start.Add(2*time.Hour))
	if got := k.Retire(start); got != k {
		t.Error("Retire made a new keyring though nothing has expired")
	}
	at := start.Add(time.Hour)
	next := k.Retire(at)
	if diff := cmp.Diff([]string{"gamma", "beta"}, names(next)); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	want := []keyring.Tombstone{{
		Fingerprint: fingerprint(k, "alpha"), Time: at, Reason: keyring.Expired, Rotation: "uid-beta", Revision: k.Revision + 1,
	}}
	if diff := cmp.Diff(want, next.Tombstones); diff != "" {
		t.Errorf("tombstones (-want +got):\n%s", diff)
	}
}

func TestTombstonesOfRevokedSecretsAreKeptForEver(t *testing.T) {
	k := promote(t, adopt(t, "leaked"), "first", start, start.Add(time.Hour))
	k, err := k.Revoke(fingerprint(k, "leaked"), start)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		k = promote(t, k, fmt.Sprintf("secret-%d", i), start, start).Retire(start)
	}
	if k.Standing(candidate("leaked")) != keyring.IsRevoked {
		t.Error("the revoked secret was forgotten")
	}
	if n := len(k.Tombstones); n != 65 {
		t.Errorf("%d tombstones, want 64 of expired secrets and one revoked", n)
	}
}
