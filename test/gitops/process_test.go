// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// process is a child that ends with this process, whatever happens to it.
type process struct {
	cmd    *exec.Cmd
	log    string
	exited chan struct{}
}

// spawn starts and waits for the child on one thread of its own: the kernel sends the parent-death signal when the thread
// that started the child ends, not the process.
func spawn(binary, folder string, env, args []string) (*process, error) {
	p := &process{
		cmd: exec.Command(binary, args...), log: filepath.Join(folder, filepath.Base(binary)+".log"), exited: make(chan struct{}),
	}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("make a process's log: %w", err)
	}
	defer out.Close()
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.exited)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	return p, nil
}

// stop ends the process, at once if it does not end by itself.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// tail returns the end of what the process wrote.
func (p *process) tail() string {
	const most = 6000
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
