// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine returns what the reader of a result must know of the machine.
func Machine() string {
	kernel := "unknown kernel"
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel = "Linux " + strings.TrimSpace(string(text))
	}
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	var info unix.Sysinfo_t
	memory := "unknown"
	if unix.Sysinfo(&info) == nil {
		memory = fmt.Sprintf("%d GiB", info.Totalram*uint64(info.Unit)>>30)
	}
	return fmt.Sprintf("%d x %s, %s of memory, %s, %s", runtime.NumCPU(), model, memory, kernel, runtime.Version())
}

// The magic numbers of file systems that are in memory.
const (
	tmpfs = 0x01021994
	ramfs = 0x858458f6
)

// OnDisk says whether a folder is on a file system that keeps what is synced to it.
func OnDisk(dir string) (bool, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false, fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	return s.Type != tmpfs && s.Type != ramfs, nil
}
