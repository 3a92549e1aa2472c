// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"testing"
)

func TestParseMounts(t *testing.T) {
	const mountinfo = `22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:30 / /state/kubelet/pods/a/volumes/x rw - tmpfs tmpfs rw
31 22 0:31 / /state/containerd/run/b rw - overlay overlay rw
32 31 0:32 / /state/containerd/run/b/c\040d rw - tmpfs tmpfs rw
33 22 0:33 / /stateful/other rw - tmpfs tmpfs rw
34 22 0:34 / /state rw - tmpfs tmpfs rw
`
	want := []string{"/state/kubelet/pods/a/volumes/x", "/state/containerd/run/b/c d", "/state/containerd/run/b"}
	if got := parseMounts(mountinfo, "/state"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRemoveStateKeepsLogs(t *testing.T) {
	s := settings{state: t.TempDir()}
	writeTree(t, s.state, map[string]string{"logs/etcd.log": "x", "lock": "", "etcd/data": "x", "state.json": "{}"})
	if !s.leftovers() {
		t.Error("a cluster's remains are not seen")
	}
	if err := removeState(s); err != nil {
		t.Fatal(err)
	}
	if s.leftovers() {
		t.Error("remains are left")
	}
	if _, err := os.Stat(s.logFile("etcd")); err != nil {
		t.Errorf("the logs are gone: %v", err)
	}
}
