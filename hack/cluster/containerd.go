// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
)

// containerNamespace is where containerd keeps what the kubelet uses.
const containerNamespace = "k8s.io"

func containerdSocket(s settings) string { return s.path("containerd", "containerd.sock") }

// ctr runs containerd's own client in the namespace of the kubelet.
func (l *local) ctr(ctx context.Context, args ...string) ([]byte, error) {
	return run(ctx, l.bin["ctr"], append([]string{"--address", containerdSocket(l.settings), "--namespace", containerNamespace}, args...)...)
}

func (l *local) startContainerd(ctx context.Context) error {
	v := newValues(l.state)
	v.Runc = l.bin["runc"]
	v.CNIBinaries = filepath.Dir(l.bin["bridge"])
	v.Snapshotter = chooseSnapshotter(ctx, l.settings)
	config := l.path("conf", "containerd.toml")
	if err := renderFile(config, "containerd.toml", v); err != nil {
		return err
	}
	if err := renderFile(l.path("cni", "conf", "10-hookonce.conflist"), "cni.conflist", v); err != nil {
		return err
	}
	shims := filepath.Dir(l.bin["containerd-shim-runc-v2"])
	if err := l.start(process{
		name: "containerd", path: l.bin["containerd"], args: []string{"--config", config},
		env: []string{"PATH=" + shims + ":" + os.Getenv("PATH")},
	}); err != nil {
		return err
	}
	if err := l.waitFor(ctx, "containerd", func(ctx context.Context) error {
		_, err := l.ctr(ctx, "version")
		return err
	}); err != nil {
		return err
	}
	built, err := buildImage(imageSpec{
		reference: pauseImage, user: "65532", binaries: []string{l.bin["pause"]},
	})
	if err != nil {
		return err
	}
	return l.importImage(ctx, built)
}

// chooseSnapshotter tries an overlay where the images will be: on some filesystems (an overlay
// itself, for one) the kernel refuses it, and plain copies serve.
func chooseSnapshotter(ctx context.Context, s settings) string {
	dir := s.path("overlay-trial")
	defer os.RemoveAll(dir)
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return "native"
		}
	}
	script := `mount -t overlay overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" "$1/merged"`
	if _, err := run(ctx, "unshare", "--mount", "sh", "-c", script, "sh", dir); err != nil {
		progress("containerd copies images instead of overlaying them: %v", err)
		return "native"
	}
	return "overlayfs"
}
