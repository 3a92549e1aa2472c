// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
)

var now = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// volume is a folder that is written as the kubelet writes a mounted Secret or ConfigMap: the files are symbolic links
// into ..data, which is a symbolic link that is replaced as a whole.
type volume struct {
	dir     string
	version int
}

func newVolume(t *testing.T) *volume {
	t.Helper()
	return &volume{dir: t.TempDir()}
}

func (v *volume) write(t *testing.T, name string, data []byte) {
	t.Helper()
	v.version++
	payload := fmt.Sprintf("..2026_%d", v.version)
	must(t, os.Mkdir(filepath.Join(v.dir, payload), 0o755))
	must(t, os.WriteFile(filepath.Join(v.dir, payload, name), data, 0o600))
	old, _ := os.Readlink(filepath.Join(v.dir, "..data"))
	must(t, os.Symlink(payload, filepath.Join(v.dir, "..data_tmp")))
	must(t, os.Rename(filepath.Join(v.dir, "..data_tmp"), filepath.Join(v.dir, "..data")))
	if old == "" {
		must(t, os.Symlink(filepath.Join("..data", name), filepath.Join(v.dir, name)))
		return
	}
	must(t, os.RemoveAll(filepath.Join(v.dir, old)))
}

func (v *volume) remove(t *testing.T, name string) {
	t.Helper()
	must(t, os.Remove(filepath.Join(v.dir, name)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pod is the three folders of one receiver, and the keyring that the operator would write.
type pod struct {
	config, keyring, source *volume
	ring                    *keyring.Keyring
}

// newPod has a usable configuration, a keyring with one secret, and the same secret mounted.
func newPod(t *testing.T) *pod {
	t.Helper()
	p := &pod{config: newVolume(t), keyring: newVolume(t), source: newVolume(t)}
	p.config.write(t, receiverconfig.FileName, document(t, "Paymos", "/webhooks/payments"))
	ring, err := keyring.Adopt(zeros{}, candidate("first-signing-secret"), now.Add(-time.Hour))
	must(t, err)
	p.mount(t, ring)
	p.source.write(t, SourceFile, []byte("first-signing-secret\n"))
	return p
}

func (p *pod) mount(t *testing.T, ring *keyring.Keyring) {
	t.Helper()
	data, err := ring.Encode()
	must(t, err)
	p.ring = ring
	p.keyring.write(t, keyring.FileName, data)
}

func (p *pod) open(changed func(*Snapshot)) *Store {
	return Open(Options{
		ConfigDir: p.config.dir, KeyringDir: p.keyring.dir, SourceDir: p.source.dir, Changed: changed,
		Log: newLog(), Now: func() time.Time { return now },
	})
}

// openOutgoing is open, with a folder of destinations' secrets.
func (p *pod) openOutgoing(dir string) *Store {
	return Open(Options{
		ConfigDir: p.config.dir, KeyringDir: p.keyring.dir, OutgoingDir: dir, Log: newLog(), Now: func() time.Time { return now },
	})
}

// destinations configures these; queue logs in, plain does neither, and all others are signed.
func (p *pod) destinations(t *testing.T, names ...string) {
	t.Helper()
	config := configuration(t, "Paymos", "/webhooks/payments")
	for _, name := range names {
		config.Destinations = append(config.Destinations, receiverconfig.Destination{
			Name: name, URL: "http://" + name + ".shop.svc/hooks", EventTypes: []string{"*"},
			Timeout: receiverconfig.Duration(time.Second), Signed: name != "plain" && name != "queue", LogsIn: name == "queue",
		})
	}
	data, err := config.Encode()
	must(t, err)
	p.config.write(t, receiverconfig.FileName, data)
}

func newLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func candidate(secret string) keyring.Candidate {
	return keyring.Candidate{
		Key: []byte(secret), Secret: []byte(secret), Source: keyring.Source{Name: "paymos-webhook", Key: "secret"},
		Rotation: "rotation-of-" + secret,
	}
}

func document(t *testing.T, preset, path string) []byte {
	t.Helper()
	data, err := configuration(t, preset, path).Encode()
	must(t, err)
	return data
}

func configuration(t *testing.T, preset, path string) *receiverconfig.Config {
	t.Helper()
	s, ok := scheme.Preset(preset)
	if !ok {
		t.Fatalf("no preset %s", preset)
	}
	return &receiverconfig.Config{
		Endpoint: "shop/payments", Path: path, Scheme: s, Tolerance: receiverconfig.Duration(5 * time.Minute),
		MaxBodyBytes: 1 << 20, Schema: "hookonce", Retention: receiverconfig.Retention{
			Claims: receiverconfig.Duration(720 * time.Hour), Payloads: receiverconfig.Duration(168 * time.Hour),
		},
	}
}
