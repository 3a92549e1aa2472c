// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package keyring_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/keyring"
)

var start = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)

// candidate returns a secret whose text is name and whose key is its upper case, as if the text had been decoded.
func candidate(name string) keyring.Candidate {
	return keyring.Candidate{
		Key:      []byte(strings.ToUpper(name)),
		Secret:   []byte(name),
		Source:   keyring.Source{Name: "webhook-" + name, Key: "secret"},
		Rotation: "uid-" + name,
	}
}

func adopt(t *testing.T, name string) *keyring.Keyring {
	t.Helper()
	c := candidate(name)
	c.Rotation = ""
	k, err := keyring.Adopt(bytes.NewReader(bytes.Repeat([]byte{7}, keyring.SaltBytes)), c, start)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func promote(t *testing.T, k *keyring.Keyring, name string, now, notAfter time.Time) *keyring.Keyring {
	t.Helper()
	next, _, err := k.Promote(candidate(name), now, notAfter)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func fingerprint(k *keyring.Keyring, name string) string {
	return k.Fingerprint(candidate(name).Key)
}

// names returns the texts of the current and the previous secrets.
func names(k *keyring.Keyring) []string {
	out := []string{string(k.Current.Secret)}
	for _, e := range k.Previous {
		out = append(out, string(e.Secret))
	}
	return out
}

func TestFingerprintIsSaltedDigestOfKey(t *testing.T) {
	k := adopt(t, "alpha-secret")
	mac := hmac.New(sha256.New, k.Salt)
	mac.Write([]byte("ALPHA-SECRET"))
	want := hex.EncodeToString(mac.Sum(nil))
	if got := k.Current.Fingerprint; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
	if got := keyring.Short(want); got != want[:12] {
		t.Errorf("short fingerprint %s", got)
	}
	if got := keyring.Short("abc"); got != "abc" {
		t.Errorf("short fingerprint of a short text %s", got)
	}
}

func TestAdoptRefusesWhatCannotBeAKey(t *testing.T) {
	salt := bytes.NewReader(make([]byte, keyring.SaltBytes))
	if _, err := keyring.Adopt(salt, keyring.Candidate{Secret: []byte("x")}, start); err == nil {
		t.Error("adopted an empty key")
	}
	if _, err := keyring.Adopt(bytes.NewReader(nil), candidate("alpha"), start); err == nil {
		t.Error("adopted without a salt")
	}
}

func TestAcceptedUntilNotAfter(t *testing.T) {
	deadline := start.Add(time.Hour)
	k := promote(t, adopt(t, "alpha"), "beta", start, deadline)
	for _, c := range []struct {
		at   time.Time
		want int
	}{{deadline.Add(-time.Nanosecond), 2}, {deadline, 1}, {deadline.Add(time.Hour), 1}} {
		if got := len(k.Accepted(c.at)); got != c.want {
			t.Errorf("%v: %d secrets accepted, want %d", c.at, got, c.want)
		}
	}
}

func TestStanding(t *testing.T) {
	k := promote(t, adopt(t, "alpha"), "beta", start, start.Add(time.Hour))
	k = promote(t, k, "gamma", start, start.Add(time.Hour))
	k = promote(t, k, "delta", start, start.Add(time.Hour))
	k, err := k.Revoke(fingerprint(k, "beta"), start)
	if err != nil {
		t.Fatal(err)
	}
	k, err = k.Expire(fingerprint(k, "alpha"), start)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]keyring.Standing{
		"delta": keyring.IsCurrent, "gamma": keyring.IsPrevious, "beta": keyring.IsRevoked,
		"alpha": keyring.IsExpired, "omega": keyring.IsUnknown,
	} {
		if got := k.Standing(candidate(name)); got != want {
			t.Errorf("%s: standing %d, want %d", name, got, want)
		}
	}
	decodedOtherwise := candidate("delta")
	decodedOtherwise.Key = []byte("another key of the same text")
	if got := k.Standing(decodedOtherwise); got != keyring.IsCurrent {
		t.Errorf("same text, other decoding: standing %d, want current", got)
	}
}

func TestNothingShowsASecret(t *testing.T) {
	const canary = "canary-signing-secret"
	c := candidate(canary)
	c.Source, c.Rotation = keyring.Source{Name: "webhook", Key: "secret"}, "uid"
	k, err := keyring.Adopt(strings.NewReader(strings.Repeat("salt", 8)), c, start)
	if err != nil {
		t.Fatal(err)
	}
	k = promote(t, promote(t, k, "beta", start, start.Add(time.Hour)), "gamma", start, start.Add(time.Hour))
	if k, _, err = k.Promote(c, start, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}

	var shown strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d"} {
		fmt.Fprintf(&shown, verb+" "+verb+" "+verb+"\n", k, *k, c)
	}
	for _, logger := range []*slog.Logger{
		slog.New(slog.NewTextHandler(&shown, nil)), slog.New(slog.NewJSONHandler(&shown, nil)),
	} {
		logger.Info("keyring", "ring", k, "value", *k, "entry", k.Current, "entries", k.Previous, "secret", k.Current.Secret, "candidate", c)
	}
	marshaled, err := json.Marshal(map[string]any{"ring": k, "candidate": c})
	if err != nil {
		t.Fatal(err)
	}
	shown.Write(marshaled)

	forms := map[string][]byte{"text": []byte(canary), "key": c.Key, "salt": k.Salt}
	for name, raw := range forms {
		encoded, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{
			string(raw), strings.Trim(string(encoded), `"`), hex.EncodeToString(raw),
			strings.ToUpper(hex.EncodeToString(raw)), strings.Trim(fmt.Sprint(raw), "[]"),
		} {
			if strings.Contains(shown.String(), form) {
				t.Errorf("the %s is shown as %q", name, form)
			}
		}
	}
}

func TestChangesLeaveTheOriginalAlone(t *testing.T) {
	deadline := start.Add(time.Hour)
	k := promote(t, adopt(t, "alpha"), "beta", start, deadline)
	k = promote(t, k, "gamma", start, deadline)
	before, err := k.Encode()
	if err != nil {
		t.Fatal(err)
	}
	beta := fingerprint(k, "beta")
	changes := map[string]func() error{
		"Promote":  func() error { _, _, err := k.Promote(candidate("delta"), start, deadline); return err },
		"Revert":   func() error { _, _, err := k.Promote(candidate("alpha"), start, deadline); return err },
		"Extend":   func() error { _, err := k.Extend(beta, start, deadline.Add(time.Hour)); return err },
		"Finalize": func() error { _, err := k.Finalize(beta, start, start, deadline); return err },
		"Retire":   func() error { k.Retire(deadline); return nil },
		"Revoke":   func() error { _, err := k.Revoke(beta, start); return err },
		"Expire":   func() error { _, err := k.Expire(beta, start); return err },
	}
	for name, change := range changes {
		if err := change(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		after, err := k.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(before), string(after)); diff != "" {
			t.Errorf("%s changed the keyring in place:\n%s", name, diff)
		}
	}
}
