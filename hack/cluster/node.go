// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// nodeKind is what runs the pods.
type nodeKind string

const (
	nodeContainerd nodeKind = "containerd"
	nodeProcess    nodeKind = "process"
)

// hostAddress is the address of this host as pods reach it.
func (k nodeKind) hostAddress() string {
	if k == nodeProcess {
		return loopbackIP
	}
	return gatewayIP
}

// chooseNode follows the wish (containerd, process, or auto) and, for auto, what this machine
// can do. It says why when it falls back.
func chooseNode(ctx context.Context, wish string) (nodeKind, error) {
	switch wish {
	case "", "auto":
		if reason := cannotRunContainers(ctx); reason != "" {
			progress("NODE=process: this machine cannot run containers: %s", reason)
			return nodeProcess, nil
		}
		return nodeContainerd, nil
	case string(nodeContainerd):
		if reason := cannotRunContainers(ctx); reason != "" {
			return "", fmt.Errorf("NODE=containerd is not possible here: %s", reason)
		}
		return nodeContainerd, nil
	case string(nodeProcess):
		return nodeProcess, nil
	default:
		return "", fmt.Errorf("NODE is %q: want containerd, process or auto", wish)
	}
}

// cannotRunContainers tries what containers need, in namespaces that end with the trial, and
// returns why it failed, or nothing.
func cannotRunContainers(ctx context.Context) string {
	if runtime.GOOS != "linux" {
		return "it is not Linux but " + runtime.GOOS
	}
	if os.Geteuid() != 0 {
		return "not root"
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	trial := exec.CommandContext(ctx, "unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork",
		"sh", "-c", "mount -t tmpfs none /mnt && mount --bind /mnt /mnt")
	if out, err := trial.CombinedOutput(); err != nil {
		return "no right to make namespaces or to mount (" + oneLine(out, err) + ")"
	}
	if _, err := os.Stat("/sys/fs/cgroup"); err != nil {
		return "no cgroups (" + err.Error() + ")"
	}
	return ""
}

func oneLine(out []byte, err error) string {
	text := strings.Join(strings.Fields(lastLines(out, 2)), " ")
	if text == "" {
		return err.Error()
	}
	return text
}
