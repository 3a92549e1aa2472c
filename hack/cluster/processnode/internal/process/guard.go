// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Guard is a second process which waits for the end of this one, however that comes, and then
// kills the process groups that are left. The kernel's own signal at the parent's death reaches
// only direct children, and only on Linux.
type Guard struct {
	command *exec.Cmd

	mu   sync.Mutex
	pipe io.WriteCloser
}

// StartGuard starts the guard: the program and arguments must end up in RunGuard.
func StartGuard(path string, args ...string) (*Guard, error) {
	command := exec.Command(path, args...)
	command.Stderr = os.Stderr
	// Signals for this process's group must not reach the guard before its work is done.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe to the guard: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the guard: %w", err)
	}
	return &Guard{command: command, pipe: pipe}, nil
}

// Close ends the guard, which kills what is left, and waits for it.
func (g *Guard) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.pipe.Close(); err != nil {
		return fmt.Errorf("close the pipe to the guard: %w", err)
	}
	if err := g.command.Wait(); err != nil {
		return fmt.Errorf("wait for the guard: %w", err)
	}
	return nil
}

func (g *Guard) add(group int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := fmt.Fprintf(g.pipe, "+%d\n", group); err != nil {
		return fmt.Errorf("tell the guard of a process: %w", err)
	}
	return nil
}

// remove does not fail: a group that the guard still believes to be there is gone already.
func (g *Guard) remove(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, _ = fmt.Fprintf(g.pipe, "-%d\n", group)
}

// RunGuard is the guard's whole life: it reads which process groups there are until the other
// end of the pipe is closed, and kills those that are left.
func RunGuard(pipe io.Reader) error {
	groups := make(map[int]bool)
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		sign, number := lines.Text()[:min(1, len(lines.Text()))], strings.TrimLeft(lines.Text(), "+-")
		group, err := strconv.Atoi(number)
		if err != nil || group <= 1 {
			return fmt.Errorf("the guard was told %q", lines.Text())
		}
		if sign == "+" {
			groups[group] = true
		} else {
			delete(groups, group)
		}
	}
	for group := range groups {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read from the guarded process: %w", err)
	}
	return nil
}
