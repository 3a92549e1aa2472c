// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// process is a child that ends with this process, whatever happens to it.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// spawn starts and waits for the child on one thread of its own: the kernel sends the parent-death signal when the thread
// that started the child ends, not the process.
func spawn(binary, log string, args ...string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("make the log of a process: %w", err)
	}
	defer out.Close()
	p := &process{cmd: exec.Command(binary, args...), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
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

// stop ends the process in order, and at once if it does not end in time.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pause waits, and says whether the context still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, within time.Duration, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !condition() {
		if time.Now().After(deadline) || !pause(t.Context(), 20*time.Millisecond) {
			t.Fatalf("waited %s until %s", within, what)
		}
	}
}
