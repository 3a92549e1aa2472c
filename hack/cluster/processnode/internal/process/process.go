// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process runs programs that never outlive this one.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Spec is a program to run.
type Spec struct {
	Path   string
	Args   []string // without the program's name
	Env    []string // NAME=value; nothing is inherited
	Dir    string
	Output *os.File // of both standard output and standard error
}

// Exit is how a process ended. A signal counts as the code 128 + its number, as container
// runtimes report it.
type Exit struct {
	Code   int
	Signal int // 0 if the process ended by itself
	At     time.Time
}

// Process is a running program, the leader of a process group of its own.
type Process struct {
	pid   int
	ended chan struct{}
	exit  Exit
}

// Starter starts processes. On Linux the kernel kills a child when the *thread* that started it
// ends; therefore one goroutine, which keeps its thread for good, starts them all.
type Starter struct {
	guard    *Guard
	requests chan func()
}

// NewStarter makes a starter whose processes the guard watches.
func NewStarter(guard *Guard) *Starter {
	s := &Starter{guard: guard, requests: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for request := range s.requests {
			request()
		}
	}()
	return s
}

// Start runs the program.
func (s *Starter) Start(spec Spec) (*Process, error) {
	command := &exec.Cmd{
		Path:        spec.Path,
		Args:        append([]string{spec.Path}, spec.Args...),
		Env:         spec.Env,
		Dir:         spec.Dir,
		Stdout:      spec.Output,
		Stderr:      spec.Output,
		SysProcAttr: groupAttributes(),
	}
	if command.Env == nil {
		command.Env = []string{}
	}
	started := make(chan error)
	s.requests <- func() { started <- command.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	p := &Process{pid: command.Process.Pid, ended: make(chan struct{})}
	if err := s.guard.add(p.pid); err != nil {
		p.Signal(syscall.SIGKILL)
		_ = command.Wait()
		return nil, err
	}
	go s.wait(command, p)
	return p, nil
}

func (s *Starter) wait(command *exec.Cmd, p *Process) {
	err := command.Wait()
	p.exit = Exit{At: time.Now()}
	var failure *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &failure):
		p.exit.Code = failure.ExitCode()
		if status, ok := failure.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			p.exit.Signal = int(status.Signal())
			p.exit.Code = 128 + p.exit.Signal
		}
	default:
		p.exit.Code = 255
	}
	// With a container's first process, all others of the container end too.
	p.Signal(syscall.SIGKILL)
	s.guard.remove(p.pid)
	close(p.ended)
}

// PID is the process id, which is also the id of the process group.
func (p *Process) PID() int { return p.pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exit is how the process ended. It must be asked after Ended only.
func (p *Process) Exit() Exit { return p.exit }

// Signal sends a signal to the whole process group. That the group is gone is no error.
func (p *Process) Signal(signal syscall.Signal) {
	_ = syscall.Kill(-p.pid, signal)
}
