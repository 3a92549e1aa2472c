// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func startSleeper(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return cmd
}

func recordOf(t *testing.T, pid int) pidRecord {
	t.Helper()
	started, err := startTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	return pidRecord{PID: pid, Started: started}
}

func TestTerminateEndsTheRecordedProcess(t *testing.T) {
	record := recordOf(t, startSleeper(t).Process.Pid)
	if !record.alive() {
		t.Fatal("a running process is not seen as alive")
	}
	if err := terminate(record, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if record.alive() {
		t.Error("the process still runs")
	}
}

func TestTerminateSparesAReusedPID(t *testing.T) {
	now := recordOf(t, startSleeper(t).Process.Pid)
	before := pidRecord{PID: now.PID, Started: "1"}
	if before.alive() {
		t.Error("a process with another start time is taken for ours")
	}
	if err := terminate(before, time.Second); err != nil {
		t.Fatal(err)
	}
	if !now.alive() {
		t.Error("a process of somebody else was ended")
	}
}

func TestStopForgetsTheProcess(t *testing.T) {
	s := settings{state: t.TempDir()}
	if err := os.MkdirAll(s.logs(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.start(process{name: "sleeper", path: "/bin/sleep", args: []string{"300"}}); err != nil {
		t.Fatal(err)
	}
	if !s.running("sleeper") {
		t.Fatal("the process does not run")
	}
	if err := s.stop("sleeper", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if s.running("sleeper") || len(s.recorded()) != 0 {
		t.Errorf("after stop: running %t, recorded %v", s.running("sleeper"), s.recorded())
	}
	if err := s.stop("sleeper", time.Second); err != nil {
		t.Errorf("stopping twice: %v", err)
	}
}
