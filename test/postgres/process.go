// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"os/exec"
	"runtime"
)

// spawn starts and waits for the child on one thread of its own: the kernel sends the parent-death signal when the thread
// that started the child ends, not the process. The channel is closed when the child has ended.
func spawn(cmd *exec.Cmd) (pid int, ended chan struct{}, err error) {
	started := make(chan error, 1)
	exited := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			// The exit status says nothing that the log does not.
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return 0, nil, err
	}
	return cmd.Process.Pid, exited, nil
}
