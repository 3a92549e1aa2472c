// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// requirement is something that a Debian package brings: a command or a file.
type requirement struct {
	debian  string
	command string
	file    string
}

// containerRequirements are what building runc and running a node need beyond the Go
// distribution.
var containerRequirements = []requirement{
	{debian: "iproute2", command: "ip"},
	{debian: "nftables", command: "nft"},
	{debian: "mount", command: "mount"},
	{debian: "gcc", command: "gcc"},
	{debian: "libc6-dev", file: "/usr/include/stdio.h"},
	{debian: "pkg-config", command: "pkg-config"},
	{debian: "libseccomp-dev", file: "/usr/include/seccomp.h"},
}

func (r requirement) met() bool {
	if r.command != "" {
		_, err := exec.LookPath(r.command)
		return err == nil
	}
	_, err := os.Stat(r.file)
	return err == nil
}

// ensurePackages installs what is missing where it can, and otherwise says how to.
func ensurePackages(ctx context.Context, wanted []requirement) error {
	var missing []string
	for _, r := range wanted {
		if !r.met() {
			missing = append(missing, r.debian)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	line := "apt-get install -y --no-install-recommends " + strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return errors.New("missing packages; as root on Debian: apt-get update && " + line)
	}
	progress("installing Debian packages: %s", strings.Join(missing, " "))
	for _, command := range []string{"apt-get update", line} {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, lastLines(out, 10))
		}
	}
	return nil
}
