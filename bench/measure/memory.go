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
}

// ReadMemory reads /proc/PID/status.
func ReadMemory(pid int) (Memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, fmt.Errorf("read what a process occupies: %w", err)
	}
	var m Memory
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		var into *int64
		switch name {
		case "VmRSS":
			into = &m.Resident
		case "VmHWM":
			into = &m.Peak
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

// ResetPeak makes the peak that of now.
func ResetPeak(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200); err != nil {
		return fmt.Errorf("reset the peak of a process: %w", err)
	}
	return nil
}
