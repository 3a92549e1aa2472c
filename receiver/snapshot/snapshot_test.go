// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// accepted lists the secrets that are accepted at a moment, as role:key.
func accepted(s *Snapshot, at time.Time) []string {
	var list []string
	for _, secret := range s.Secrets {
		if secret.Accepted(at) {
			list = append(list, secret.Role+":"+string(secret.Key))
		}
	}
	return list
}

func check(t *testing.T, s *Snapshot, at time.Time, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, accepted(s, at)); diff != "" {
		t.Errorf("accepted secrets (-want +got):\n%s", diff)
	}
}

func report(s *Store) receiverstatus.Status {
	var status receiverstatus.Status
	s.Current().Report(&status)
	return status
}

func TestMountedSecretOfTheKeyringIsAcceptedOnce(t *testing.T) {
	store := newPod(t).open(nil)
	check(t, store.Current(), now, "current:first-signing-secret")
	status := report(store)
	if status.Source.Fingerprint != status.Secrets[0].Fingerprint || status.Endpoint != "shop/payments" {
		t.Errorf("status %+v: want the source to be the current secret of shop/payments", status)
	}
	if err := store.Current().Usable(now); err != nil {
		t.Errorf("not usable: %v", err)
	}
}

func TestUnknownMountedSecretIsAcceptedUntilTheKeyringKnowsIt(t *testing.T) {
	p := newPod(t)
	store := p.open(nil)
	p.source.write(t, SourceFile, []byte("second-signing-secret"))
	if !store.Reload() {
		t.Fatal("a swapped folder was not noticed")
	}
	check(t, store.Current(), now, "current:first-signing-secret", "provisional:second-signing-secret")
	fingerprint := report(store).Source.Fingerprint
	store.Used(fingerprint)

	deadline := now.Add(24 * time.Hour)
	ring, _, err := p.ring.Promote(candidate("second-signing-secret"), now, deadline)
	must(t, err)
	p.mount(t, ring)
	store.Reload()
	check(t, store.Current(), now, "current:second-signing-secret", "previous:first-signing-secret")
	check(t, store.Current(), deadline.Add(-time.Second), "current:second-signing-secret", "previous:first-signing-secret")
	check(t, store.Current(), deadline, "current:second-signing-secret")

	status := report(store)
	if status.Keyring.Revision != 2 || status.Secrets[0].Fingerprint != fingerprint || status.Secrets[0].Uses != 1 {
		t.Errorf("status %+v: want revision 2, and the use of the secret kept while its role changed", status)
	}
}

func TestRetiredSecretStaysRefusedWhileItIsMounted(t *testing.T) {
	p := newPod(t)
	ring, _, err := p.ring.Promote(candidate("second-signing-secret"), now.Add(-2*time.Hour), now.Add(-time.Hour))
	must(t, err)
	p.mount(t, ring)
	store := p.open(nil)
	check(t, store.Current(), now, "current:second-signing-secret")

	for name, retired := range map[string]func(){
		"expired": func() { p.mount(t, ring.Retire(now)) },
		"revoked": func() {
			revoked, err := ring.Revoke(ring.Previous[0].Fingerprint, now)
			must(t, err)
			p.mount(t, revoked)
		},
	} {
		t.Run(name, func(t *testing.T) {
			retired()
			check(t, p.open(nil).Current(), now, "current:second-signing-secret")
			if len(p.ring.Tombstones) != 1 {
				t.Fatalf("%d tombstones, want 1", len(p.ring.Tombstones))
			}
		})
	}
}

func TestDamagedPartsKeepTheLastUsableOnes(t *testing.T) {
	p := newPod(t)
	store := p.open(nil)
	before := report(store)
	p.config.write(t, receiverconfig.FileName, []byte(`{"version":1,`))
	p.keyring.write(t, "keyring.json", []byte("\x00"))
	p.source.write(t, SourceFile, []byte("  \n"))
	store.Reload()
	check(t, store.Current(), now, "current:first-signing-secret")
	status := report(store)
	if status.Config.Error == "" || status.Config.Digest != before.Config.Digest {
		t.Errorf("config %+v, want an error beside digest %s", status.Config, before.Config.Digest)
	}
	if status.Keyring.Error == "" || status.Keyring.Revision != 1 {
		t.Errorf("keyring %+v, want an error beside revision 1", status.Keyring)
	}
	if !status.Source.Present || status.Source.Problem == "" || status.Source.Fingerprint != "" {
		t.Errorf("source %+v, want a problem and no fingerprint", status.Source)
	}

	p.keyring.remove(t, "keyring.json")
	p.source.remove(t, SourceFile)
	p.config.write(t, receiverconfig.FileName, document(t, "Paymos", "/other"))
	store.Reload()
	check(t, store.Current(), now, "current:first-signing-secret")
	status = report(store)
	if status.Config.Error != "" || store.Current().Config.Path != "/other" {
		t.Errorf("config %+v with path %s, want the repaired one", status.Config, store.Current().Config.Path)
	}
	if status.Keyring.Error == "" || status.Source.Present {
		t.Errorf("keyring %+v and source %+v, want an error and nothing", status.Keyring, status.Source)
	}
}

func TestNothingIsAcceptedWithoutAKeyring(t *testing.T) {
	p := newPod(t)
	p.keyring.remove(t, "keyring.json")
	store := p.open(nil)
	check(t, store.Current(), now)
	if err := store.Current().Usable(now); !errors.Is(err, ErrNoSecret) {
		t.Errorf("usable: %v, want %v", err, ErrNoSecret)
	}
	if problem := report(store).Source.Problem; problem == "" {
		t.Error("the mounted secret is not said to be unjudged")
	}
}

func TestNothingIsUsableWithoutAConfig(t *testing.T) {
	p := newPod(t)
	p.config.remove(t, receiverconfig.FileName)
	store := p.open(nil)
	check(t, store.Current(), now)
	if err := store.Current().Usable(now); !errors.Is(err, ErrNoConfig) {
		t.Errorf("usable: %v, want %v", err, ErrNoConfig)
	}
}

func TestEarlierRevisionOfTheSameKeyringIsRefused(t *testing.T) {
	p := newPod(t)
	first := p.ring
	second, _, err := first.Promote(candidate("second-signing-secret"), now, now.Add(time.Hour))
	must(t, err)
	revoked, err := second.Revoke(second.Previous[0].Fingerprint, now)
	must(t, err)
	p.mount(t, revoked)
	store := p.open(nil)
	p.mount(t, second)
	store.Reload()
	check(t, store.Current(), now, "current:second-signing-secret")
	if status := report(store); status.Keyring.Revision != 3 || !strings.Contains(status.Keyring.Error, "older") {
		t.Errorf("keyring %+v, want revision 3 and the refusal of the older one", status.Keyring)
	}
}

func TestSecretThatTheSchemeCannotDecodeVerifiesNothing(t *testing.T) {
	p := newPod(t)
	p.config.write(t, receiverconfig.FileName, document(t, "StandardWebhooks", "/"))
	store := p.open(nil)
	check(t, store.Current(), now)
	status := report(store)
	if status.Keyring.Error == "" || strings.Contains(status.Keyring.Error, "first-signing") {
		t.Errorf("keyring error %q, want one that does not quote the secret", status.Keyring.Error)
	}
}

func TestReloadOfTheSameContentChangesNothing(t *testing.T) {
	p := newPod(t)
	store := p.open(func(*Snapshot) { t.Error("a snapshot was swapped") })
	before := store.Current()
	p.mount(t, p.ring)
	if store.Reload() || store.Current() != before {
		t.Error("the snapshot was swapped for the same content")
	}
}

func TestUsesAreCounted(t *testing.T) {
	store := newPod(t).open(nil)
	fingerprint := store.Current().Secrets[0].Fingerprint
	store.Used(fingerprint)
	store.Used(fingerprint)
	store.Used("unknown")
	secret := report(store).Secrets[0]
	if secret.Uses != 2 || !secret.LastUsed.Equal(now) {
		t.Errorf("%d uses, last %s; want 2, last %s", secret.Uses, secret.LastUsed, now)
	}
	if role := store.Current().Role(fingerprint); role != receiverstatus.RoleCurrent {
		t.Errorf("role %q", role)
	}
}

func TestWatchNoticesASwapLongBeforeThePoll(t *testing.T) {
	p := newPod(t)
	changed := make(chan *Snapshot, 1)
	store := Open(Options{
		ConfigDir: p.config.dir, KeyringDir: p.keyring.dir, SourceDir: p.source.dir, Poll: time.Hour,
		Log: newLog(), Changed: func(s *Snapshot) { changed <- s }, Now: func() time.Time { return now },
	})
	go store.Watch(t.Context())
	for _, secret := range []string{"second-signing-secret", "third-signing-secret"} {
		p.source.write(t, SourceFile, []byte(secret))
		select {
		case s := <-changed:
			check(t, s, now, "current:first-signing-secret", "provisional:"+secret)
		case <-time.After(20 * time.Second):
			t.Fatal("the swapped folder was not noticed")
		}
	}
}

func TestWatchFindsAFolderThatComesLater(t *testing.T) {
	p := newPod(t)
	dir := p.source.dir + "/later"
	changed := make(chan *Snapshot, 1)
	store := Open(Options{
		ConfigDir: p.config.dir, KeyringDir: p.keyring.dir, SourceDir: dir, Poll: 10 * time.Millisecond,
		Log: newLog(), Changed: func(s *Snapshot) { changed <- s }, Now: func() time.Time { return now },
	})
	go store.Watch(t.Context())
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(dir+"/tmp", []byte("second-signing-secret"), 0o600))
	must(t, os.Rename(dir+"/tmp", dir+"/"+SourceFile))
	select {
	case s := <-changed:
		check(t, s, now, "current:first-signing-secret", "provisional:second-signing-secret")
	case <-time.After(20 * time.Second):
		t.Fatal("the new folder was not noticed")
	}
}
