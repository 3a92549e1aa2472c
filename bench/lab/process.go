// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const startTimeout = 30 * time.Second

// Process is a server that was started to be measured.
type Process struct {
	// Pid of the process.
	Pid int
	// Public is the address that it serves, host:port, and Private that of the receiver's private port.
	Public, Private string

	cmd    *exec.Cmd
	exited chan struct{}

	mu  sync.Mutex
	log []string
}

// addresses are what a server says in its log.
type addresses struct {
	Public  string `json:"public"`
	Private string `json:"private"`
}

// start runs a program and waits until it says where it serves. It is killed when this process ends.
func start(program string, environment []string, args ...string) (*Process, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	found := make(chan addresses, 1)
	started := make(chan error, 1)
	go func() {
		// The kernel kills the child when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.exited)
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.read(output, found)
		// How it ended is in its log.
		_ = cmd.Wait()
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p.Pid = cmd.Process.Pid
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case at := <-found:
		p.Public, p.Private = at.Public, at.Private
		return p, nil
	case <-p.exited:
		return nil, fmt.Errorf("%s ended at once: %s", program, p.Log())
	case <-timeout.C:
		p.Kill()
		return nil, fmt.Errorf("%s did not serve within %s: %s", program, startTimeout, p.Log())
	}
}

// read keeps the last lines of the log.
func (p *Process) read(output io.Reader, found chan<- addresses) {
	const kept = 20
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var at addresses
		if json.Unmarshal(lines.Bytes(), &at) == nil && at.Public != "" {
			select {
			case found <- at:
			default:
			}
		}
		p.mu.Lock()
		p.log = append(p.log[max(0, len(p.log)-kept):], lines.Text())
		p.mu.Unlock()
	}
}

// Log is the end of what the process has logged.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

// Kill ends the process as a crash would, and waits until it has ended.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

// Stop asks the process to end, and waits until it has.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

func (p *Process) end(signal syscall.Signal) {
	// One that has ended already needs no signal.
	_ = p.cmd.Process.Signal(signal)
	<-p.exited
}

// ready waits until the receiver says that it is.
func (p *Process) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Private+"/readyz", http.NoBody)
		if err != nil {
			return fmt.Errorf("ask whether the receiver is ready: %w", err)
		}
		if answer, err := probe.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-p.exited:
			return errors.New("the receiver ended: " + p.Log())
		case <-ctx.Done():
			return errors.New("the receiver is not ready: " + p.Log())
		}
	}
}

// probe keeps no connection open: an idle one would be part of what is measured.
var probe = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
