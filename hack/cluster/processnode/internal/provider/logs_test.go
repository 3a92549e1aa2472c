// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/virtual-kubelet/virtual-kubelet/node/api"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/pod"
)

const testLog = "old 1\nold 2\nnew 1\nnew 2\nnew 3\n"

func TestOpenLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(testLog), 0o600); err != nil {
		t.Fatal(err)
	}
	current := pod.Log{Path: path, From: 12, To: -1}
	previous := pod.Log{Path: path, From: 0, To: 12}
	tests := []struct {
		name string
		part pod.Log
		opts api.ContainerLogOpts
		want string
	}{
		{"current", current, api.ContainerLogOpts{}, "new 1\nnew 2\nnew 3\n"},
		{"previous", previous, api.ContainerLogOpts{Previous: true}, "old 1\nold 2\n"},
		{"tail", current, api.ContainerLogOpts{Tail: 2}, "new 2\nnew 3\n"},
		{"tail of one", current, api.ContainerLogOpts{Tail: 1}, "new 3\n"},
		{"tail of more than there is", current, api.ContainerLogOpts{Tail: 9}, "new 1\nnew 2\nnew 3\n"},
		{"tail of the previous", previous, api.ContainerLogOpts{Tail: 1}, "old 2\n"},
		{"limit", current, api.ContainerLogOpts{LimitBytes: 7}, "new 1\nn"},
		{"follow what has ended", current, api.ContainerLogOpts{Follow: true}, "new 1\nnew 2\nnew 3\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reader, err := openLog(t.Context(), test.part, test.opts, func() bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			got, err := io.ReadAll(reader)
			if err != nil || string(got) != test.want {
				t.Errorf("got %q (%v), want %q", got, err, test.want)
			}
		})
	}
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var live atomic.Bool
	live.Store(true)
	reader, err := openLog(t.Context(), pod.Log{Path: path, To: -1}, api.ContainerLogOpts{Follow: true}, live.Load)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	buffer := make([]byte, 100)
	for _, line := range []string{"one\n", "two\n"} {
		go func() { _, _ = file.WriteString(line) }()
		n, err := reader.Read(buffer)
		if err != nil || string(buffer[:n]) != line {
			t.Fatalf("read %q (%v), want %q", buffer[:n], err, line)
		}
	}
	live.Store(false)
	if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
		t.Errorf("the end reads as %q (%v)", rest, err)
	}
}
