// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processesWith returns the ids of this machine's processes one of whose arguments is exactly argument.
func processesWith(argument string) ([]int, error) {
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []int
	for _, entry := range entries {
		line, err := os.ReadFile(entry)
		if err != nil {
			// A process that ended since it was listed is not one that we look for.
			continue
		}
		for arg := range bytes.SplitSeq(line, []byte{0}) {
			if string(arg) != argument {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
			if err != nil {
				return nil, fmt.Errorf("read process id: %w", err)
			}
			found = append(found, pid)
			break
		}
	}
	return found, nil
}

// residentMiB returns how much memory a process keeps resident, in MiB.
func residentMiB(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(status)) {
		value, found := strings.CutPrefix(line, "VmRSS:")
		if !found {
			continue
		}
		kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		if err != nil {
			return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
		}
		return kib / 1024, nil
	}
	return 0, fmt.Errorf("process %d shows no VmRSS", pid)
}
