// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConfigurationFiles(t *testing.T) {
	full := newValues("/state")
	full.Runc, full.CNIBinaries, full.Snapshotter = "/cache/runc", "/cache/cni", "overlayfs"
	online := full
	online.Upstreams = []string{"192.0.2.53", "2001:db8::53"}
	for golden, tc := range map[string]struct {
		template string
		values   values
	}{
		"containerd.toml": {"containerd.toml", full},
		"cni.conflist":    {"cni.conflist", full},
		"kubelet.yaml":    {"kubelet.yaml", full},
		"kube-proxy.yaml": {"kube-proxy.yaml", full},
		"Corefile":        {"Corefile", full},
		"Corefile.online": {"Corefile", online},
		"addons.yaml":     {"addons.yaml", full},
	} {
		t.Run(golden, func(t *testing.T) {
			got, err := render(tc.template, tc.values)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "golden", golden)
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("%s differs from its golden file (run the test with -update):\n%s", golden, got)
			}
		})
	}
}

func TestUpstreamServers(t *testing.T) {
	for name, tc := range map[string]struct {
		resolvConf string
		want       []string
	}{
		"none":     {"search example.com\n", nil},
		"loopback": {"nameserver 127.0.0.53\nnameserver ::1\n", nil},
		"mixed":    {"# x\nnameserver 127.0.0.1\nnameserver 192.0.2.53\noptions edns0\n", []string{"192.0.2.53"}},
		"many":     {"nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n", []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}},
		"garbage":  {"nameserver\nnameserver x\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := upstreamServers(tc.resolvConf); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestShellQuote(t *testing.T) {
	for value, want := range map[string]string{"/a/b-1.2": "/a/b-1.2", "a b": "'a b'", "it's": `'it'\''s'`, "": ""} {
		if got := shellQuote(value); got != want {
			t.Errorf("%q: got %s, want %s", value, got, want)
		}
	}
}
