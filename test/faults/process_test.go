// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
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
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of a process: %w", err)
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

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// stop ends the process in order, and returns an error if it does not end in time or well.
func (p *process) stop(within time.Duration) error {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(within):
		p.kill()
		return fmt.Errorf("it did not end within %s", within)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("it ended with code %d", code)
	}
	return nil
}

// lastPort is where the search for a port goes on.
var lastPort atomic.Int64

// freePort returns a port below those that the kernel gives to outgoing connections, so that it is still free when what
// had it before is started again.
func freePort(t *testing.T) int {
	t.Helper()
	lastPort.CompareAndSwap(0, int64(15_000+os.Getpid()%12_000))
	for range 4000 {
		port := int(lastPort.Add(1))
		l, err := net.Listen("tcp", address(port))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return 0
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// folderPrefix of the folders of a run; the process id follows.
const folderPrefix = "hookonce-faults-"

// newFolder makes the run's folder, and removes those of runs that were killed before they could.
func newFolder(t *testing.T) string {
	t.Helper()
	stale, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	must(t, err)
	for _, dir := range stale {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), folderPrefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir)
		}
	}
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", folderPrefix, os.Getpid())) //nolint:usetesting // It is kept after a failure.
	must(t, err)
	// Postgres runs as another user.
	must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the logs of the receivers and of Postgres are kept in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rest waits, and says whether the context still goes on.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
