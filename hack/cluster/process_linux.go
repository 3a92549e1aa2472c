// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// startTime identifies the life of a process by when it began (in clock ticks since boot). It
// is an error when there is no such process, or only its zombie.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", fmt.Errorf("look up process %d: %w", pid, err)
	}
	return parseStartTime(string(stat))
}

// parseStartTime reads /proc/PID/stat. The command's name, the second field, may hold spaces
// and brackets, so fields are counted from its last bracket.
func parseStartTime(stat string) (string, error) {
	_, rest, found := cutLast(stat, ")")
	fields := strings.Fields(rest)
	if !found || len(fields) < 20 {
		return "", fmt.Errorf("unexpected process status %q", stat)
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return "", fmt.Errorf("process is dead (state %s)", state)
	}
	return fields[19], nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// markedProcesses finds the processes whose environment says that they belong to the cluster
// with that state folder.
func markedProcesses(state string) []pidRecord {
	stats, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	mark := []byte(markerEnv + "=" + state)
	var found []pidRecord
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		environment, err := os.ReadFile(path)
		if err != nil || !hasVariable(environment, mark) {
			continue
		}
		if started, err := startTime(pid); err == nil {
			found = append(found, pidRecord{PID: pid, Started: started})
		}
	}
	return found
}

func hasVariable(environment, variable []byte) bool {
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if bytes.Equal(entry, variable) {
			return true
		}
	}
	return false
}
