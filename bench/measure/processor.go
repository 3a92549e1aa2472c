// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package measure reads what processes and the machine have used, from /proc, and what numbers say together.
package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: 1/100 s on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// CPU returns the time that the processes have spent on processors.
func CPU(pids ...int) (time.Duration, error) {
	var sum time.Duration
	for _, pid := range pids {
		p, err := readProcess(pid)
		if err != nil {
			return 0, err
		}
		sum += p.own
	}
	return sum, nil
}

// TreeCPU returns the time that a process and all its descendants have spent, those that have ended included. One that
// ends while they are read may be missed or counted twice, so they are read until two readings agree.
func TreeCPU(pid int) (time.Duration, error) {
	const tries, agree = 10, 3 * tick
	last, err := readTree(pid)
	for range tries {
		if err != nil {
			break
		}
		before := last
		if last, err = readTree(pid); err == nil && last >= before && last-before <= agree {
			break
		}
	}
	return last, err
}

func readTree(pid int) (time.Duration, error) {
	root, err := readProcess(pid)
	if err != nil {
		return 0, err
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	children := map[int][]process{}
	for _, dir := range all {
		child, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		// One that has ended meanwhile is counted with its parent.
		if p, err := readProcess(child); err == nil {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	var sum func(process) time.Duration
	sum = func(p process) time.Duration {
		spent := p.own + p.ended
		for _, child := range children[p.pid] {
			spent += sum(child)
		}
		return spent
	}
	return sum(root), nil
}

// process is a line of /proc/PID/stat.
type process struct {
	pid, parent int
	// own time, and that of children which have ended and were waited for.
	own, ended time.Duration
}

func readProcess(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, fmt.Errorf("read what a process has used: %w", err)
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	numbers, err := parse(fields, 1, 11, 12, 13, 14)
	if err != nil {
		return process{}, fmt.Errorf("read what process %d has used: %w", pid, err)
	}
	return process{
		pid: pid, parent: int(numbers[0]),
		own:   time.Duration(numbers[1]+numbers[2]) * tick,
		ended: time.Duration(numbers[3]+numbers[4]) * tick,
	}, nil
}

func parse(fields []string, at ...int) ([]int64, error) {
	numbers := make([]int64, len(at))
	for i, k := range at {
		if k >= len(fields) {
			return nil, fmt.Errorf("field %d is missing", k)
		}
		n, err := strconv.ParseInt(fields[k], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", k, err)
		}
		numbers[i] = n
	}
	return numbers, nil
}

// Clock is what the machine's processors have done since it started.
type Clock struct {
	total, busy, stolen int64
}

// ReadClock reads /proc/stat.
func ReadClock() (Clock, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Clock{}, fmt.Errorf("read the machine's times: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	// user nice system idle iowait irq softirq steal; guests are part of user.
	n, err := parse(strings.Fields(line), 1, 2, 3, 4, 5, 6, 7, 8)
	if err != nil {
		return Clock{}, fmt.Errorf("read the machine's times: %w", err)
	}
	c := Clock{stolen: n[7], busy: n[0] + n[1] + n[2] + n[5] + n[6]}
	c.total = c.busy + c.stolen + n[3] + n[4]
	return c, nil
}

// Since returns which part of the processors' time was stolen by the hypervisor, and which part was spent here on anything
// other than what used so much.
func (c Clock) Since(before Clock, used time.Duration) (stolen, others float64) {
	total := float64(c.total - before.total)
	if total <= 0 {
		return 0, 0
	}
	stolen = float64(c.stolen-before.stolen) / total
	others = max(0, float64(c.busy-before.busy)-float64(used/tick)) / total
	return stolen, others
}
