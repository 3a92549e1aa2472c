// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import "syscall"

func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
