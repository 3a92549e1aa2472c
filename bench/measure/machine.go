// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

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
	return fmt.Sprintf("%d x %s, %s of memory, %s", runtime.NumCPU(), model, memory, kernel)
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

// Sync is how long the disk under a folder takes to keep 8 KiB that were appended to a file: the median of a hundred times.
func Sync(dir string) (took time.Duration, err error) {
	file, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return 0, fmt.Errorf("time the disk: %w", err)
	}
	defer func() {
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}()
	const times, page = 100, 8 << 10
	var spent []float64
	for range times {
		began := time.Now()
		if _, err := file.Write(make([]byte, page)); err != nil {
			return 0, fmt.Errorf("time the disk: %w", err)
		}
		if err := unix.Fdatasync(int(file.Fd())); err != nil {
			return 0, fmt.Errorf("time the disk: %w", err)
		}
		spent = append(spent, float64(time.Since(began)))
	}
	return time.Duration(Summarize(spent).Median), nil
}
