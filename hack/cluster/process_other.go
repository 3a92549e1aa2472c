// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// startTime identifies the life of a process by when it began. It is an error when there is
// no such process, or only its zombie.
func startTime(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", fmt.Errorf("look up process %d: %w", pid, err)
	}
	state, started, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if strings.HasPrefix(state, "Z") {
		return "", fmt.Errorf("process %d is dead", pid)
	}
	return strings.TrimSpace(started), nil
}

// markedProcesses finds nothing here: the environment of a process cannot be read.
func markedProcesses(string) []pidRecord { return nil }
