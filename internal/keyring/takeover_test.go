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

// other is another rotation to the same secret.
func other(name, rotation string) keyring.Candidate {
	c := candidate(name)
	c.Rotation, c.Name = "uid-"+rotation, rotation
	return c
}

func TestTakeOver(t *testing.T) {
	k := promote(t, adopt(t, "alpha"), "beta", start, start.Add(time.Hour))
	k = promote(t, k, "gamma", start.Add(time.Minute), start.Add(2*time.Hour))
	next, err := k.TakeOver(other("gamma", "urgent"))
	if err != nil {
		t.Fatal(err)
	}
	if next.Revision != k.Revision+1 || next.Current.Rotation != "uid-urgent" || !next.Current.Added.Equal(k.Current.Added) {
		t.Errorf("current %+v of revision %d", next.Current, next.Revision)
	}
	former, ok := next.ReplacedBy("uid-urgent")
	if !ok || former.Fingerprint != fingerprint(k, "beta") || !former.NotAfter.Equal(start.Add(2*time.Hour)) {
		t.Errorf("the former secret: %t, %+v", ok, former)
	}
	if _, ok := next.ReplacedBy("uid-gamma"); ok {
		t.Error("two rotations govern one secret")
	}
	if alpha := next.Previous[1]; alpha.ReplacedBy != "uid-beta" {
		t.Errorf("the secret before is governed by %s", alpha.ReplacedBy)
	}
	if k.Current.Rotation != "uid-gamma" || k.Previous[0].ReplacedBy != "uid-gamma" {
		t.Error("the keyring was changed in place")
	}
}

func TestTakeOverOfWhatIsRetired(t *testing.T) {
	k := promote(t, adopt(t, "alpha"), "beta", start, start.Add(time.Hour)).Retire(start.Add(time.Hour))
	next, err := k.TakeOver(other("beta", "urgent"))
	if err != nil {
		t.Fatal(err)
	}
	if next.Standing(candidate("alpha")) != keyring.IsRevoked || k.Standing(candidate("alpha")) != keyring.IsExpired {
		t.Errorf("tombstones %+v, were %+v", next.Tombstones, k.Tombstones)
	}
	if _, err := next.TakeOver(other("beta", "another")); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("what is revoked already is taken over: %v", err)
	}
}

func TestCondemn(t *testing.T) {
	k := promote(t, adopt(t, "alpha"), "beta", start, start.Add(time.Hour))
	if _, err := k.Condemn("uid-beta"); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("what is still accepted was condemned: %v", err)
	}
	k = k.Retire(start.Add(time.Hour))
	next, err := k.Condemn("uid-beta")
	if err != nil {
		t.Fatal(err)
	}
	if next.Standing(candidate("alpha")) != keyring.IsRevoked || k.Standing(candidate("alpha")) != keyring.IsExpired {
		t.Errorf("tombstones %+v, were %+v", next.Tombstones, k.Tombstones)
	}
	if was, is := k.Tombstones[0], next.Tombstones[0]; next.Revision != k.Revision+1 || is.Revision != was.Revision || !is.Time.Equal(was.Time) {
		t.Errorf("tombstone %+v of revision %d, was %+v", is, next.Revision, was)
	}
	for _, rotation := range []string{"uid-beta", "uid-gamma", ""} {
		if _, err := next.Condemn(rotation); !errors.Is(err, keyring.ErrNotFound) {
			t.Errorf("condemned by %q: %v", rotation, err)
		}
	}
}

func TestTakeOverOfNothing(t *testing.T) {
	k := promote(t, adopt(t, "alpha"), "beta", start, start.Add(time.Hour))
	if _, err := k.TakeOver(other("gamma", "urgent")); !errors.Is(err, keyring.ErrNotCurrent) {
		t.Errorf("to an unknown secret: %v", err)
	}
	if _, err := adopt(t, "alpha").TakeOver(other("alpha", "urgent")); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("of an endpoint with one secret: %v", err)
	}
}

// The names of the rotations go with the secret: through a change, a return, its end and the document.
func TestNamesGoWithTheSecret(t *testing.T) {
	k := adopt(t, "alpha")
	for i, step := range []struct{ secret, by string }{{"beta", "q3"}, {"gamma", "q4"}, {"beta", "back"}, {"gamma", "q4-again"}} {
		next, _, err := k.Promote(other(step.secret, step.by), start, start.Add(time.Duration(i+1)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		k = next
	}
	k = k.Retire(start.Add(100 * time.Hour))
	k, err := keyring.Parse(encode(t, k))
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string][]string{"alpha": nil, "beta": {"back", "q3"}, "gamma": {"q4-again", "q4"}, "delta": nil} {
		if diff := cmp.Diff(want, k.NamesOf(candidate(secret))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", secret, diff)
		}
	}
	for i := range 20 {
		for _, secret := range []string{"delta", "gamma"} {
			if k, _, err = k.Promote(other(secret, fmt.Sprint(secret, i)), start, start.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := k.NamesOf(candidate("gamma")); len(got) != 8 || got[0] != "gamma19" {
		t.Errorf("names %v, want the last eight", got)
	}
}
