// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is a daemon of the cluster: it outlives this program.
type process struct {
	name string
	path string
	args []string
	env  []string
}

// pidRecord tells a process from a later one which was given the same pid.
type pidRecord struct {
	PID     int    `json:"pid"`
	Started string `json:"started"`
}

func (r pidRecord) alive() bool {
	started, err := startTime(r.PID)
	return err == nil && started == r.Started
}

func (s settings) pidFile(name string) string { return s.path("pids", name+".json") }
func (s settings) logFile(name string) string { return filepath.Join(s.logs(), name+".log") }

// start runs p in a session of its own, its output appended to its log.
func (s settings) start(p process) error {
	log, err := os.OpenFile(s.logFile(p.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", p.name, err)
	}
	defer log.Close()
	cmd := exec.Command(p.path, p.args...)
	cmd.Dir = s.state
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(append(os.Environ(), markerEnv+"="+s.state), p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	// Reaped here, a process that dies at once is seen as dead and not as a zombie.
	go func() { _ = cmd.Wait() }()
	started, err := startTime(cmd.Process.Pid)
	if err != nil {
		return fmt.Errorf("%s ended at once: %w\n%s", p.name, err, s.logTail(p.name))
	}
	record, err := json.Marshal(pidRecord{PID: cmd.Process.Pid, Started: started})
	if err != nil {
		return fmt.Errorf("encode the pid of %s: %w", p.name, err)
	}
	return writeFile(s.pidFile(p.name), record)
}

func (s settings) readPID(name string) (pidRecord, error) {
	var record pidRecord
	content, err := os.ReadFile(s.pidFile(name))
	if err != nil {
		return record, fmt.Errorf("read the pid of %s: %w", name, err)
	}
	if err := json.Unmarshal(content, &record); err != nil {
		return record, fmt.Errorf("parse the pid of %s: %w", name, err)
	}
	return record, nil
}

// running says whether the process of that name still runs.
func (s settings) running(name string) bool {
	record, err := s.readPID(name)
	return err == nil && record.alive()
}

// recorded lists the names of all processes that were started.
func (s settings) recorded() []string {
	entries, err := os.ReadDir(s.path("pids"))
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".json"))
	}
	return names
}

// stop ends the process of that name: politely, and after grace by force.
func (s settings) stop(name string, grace time.Duration) error {
	record, err := s.readPID(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := terminate(record, grace); err != nil {
		return fmt.Errorf("stop %s: %w", name, err)
	}
	if err := os.Remove(s.pidFile(name)); err != nil {
		return fmt.Errorf("forget the pid of %s: %w", name, err)
	}
	return nil
}

func terminate(record pidRecord, grace time.Duration) error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGTERM, grace}, {syscall.SIGKILL, 10 * time.Second}} {
		if !record.alive() {
			return nil
		}
		if step.wait == 0 {
			continue
		}
		if err := syscall.Kill(record.PID, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal process %d: %w", record.PID, err)
		}
		deadline := time.Now().Add(step.wait)
		for record.alive() && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
	}
	if record.alive() {
		return fmt.Errorf("process %d does not end", record.PID)
	}
	return nil
}

// logTail is the end of the log of that process, for error messages.
func (s settings) logTail(name string) string {
	content, err := os.ReadFile(s.logFile(name))
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	return s.logFile(name) + " ends with:\n" + lastLines(content, 15)
}
