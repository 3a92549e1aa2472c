// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is what a process occupies, in bytes.
type Memory struct {
	// Resident now, and at most since the process started or ResetPeak was called.
	Resident, Peak int64
	// Anonymous and File are the parts of Resident: what the process has written, which nothing can be put in place of, and
	// pages of files, such as its own program, which the kernel can read again and shares among processes of one program.
	Anonymous, File int64
}

// ReadMemory reads /proc/PID/status.
func ReadMemory(pid int) (Memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, fmt.Errorf("read what a process occupies: %w", err)
	}
	return parseMemory(string(text))
}

func parseMemory(status string) (Memory, error) {
	var m Memory
	for line := range strings.Lines(status) {
		name, rest, _ := strings.Cut(line, ":")
		var into *int64
		switch name {
		case "VmRSS":
			into = &m.Resident
		case "VmHWM":
			into = &m.Peak
		case "RssAnon":
			into = &m.Anonymous
		case "RssFile":
			into = &m.File
		default:
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return Memory{}, fmt.Errorf("read what a process occupies: %w", err)
		}
		*into = kib << 10
	}
	return m, nil
}

// String says what is resident, and of what kind.
func (m Memory) String() string {
	const mib = 1 << 20
	return fmt.Sprintf("%.1f MiB (%.1f anonymous, %.1f of files)",
		float64(m.Resident)/mib, float64(m.Anonymous)/mib, float64(m.File)/mib)
}

// ResetPeak makes the peak that of now.
func ResetPeak(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200); err != nil {
		return fmt.Errorf("reset the peak of a process: %w", err)
	}
	return nil
}
