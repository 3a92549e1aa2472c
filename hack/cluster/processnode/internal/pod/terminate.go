// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"fmt"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/probe"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/process"
)

// leastGrace is what a process gets after SIGTERM when its preStop hook has used up all the time.
const leastGrace = 2 * time.Second

// terminate ends a process in the time that is left until the deadline: the preStop hook, SIGTERM,
// and at the deadline SIGKILL. It returns when the process has ended.
func (r *Runner) terminate(deadline context.Context, spec *corev1.Container, p *process.Process) {
	if deadline.Err() == nil {
		hooked := r.preStop(deadline, spec, p)
		p.Signal(syscall.SIGTERM)
		select {
		case <-p.Ended():
		case <-deadline.Done():
		}
		if hooked && !r.forced() {
			waitLeast(p)
		}
	}
	p.Signal(syscall.SIGKILL)
	<-p.Ended()
}

// preStop runs the hook, if there is one, and reports whether it used up all the time.
func (r *Runner) preStop(deadline context.Context, spec *corev1.Container, p *process.Process) bool {
	if spec.Lifecycle == nil || spec.Lifecycle.PreStop == nil || hasEnded(p) {
		return false
	}
	hook := spec.Lifecycle.PreStop
	switch {
	case hook.Sleep != nil:
		timer := time.NewTimer(time.Duration(hook.Sleep.Seconds) * time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.Ended():
		case <-deadline.Done():
		}
	case hook.HTTPGet != nil:
		check, err := probe.NewHTTPGet(hook.HTTPGet, r.ip, spec.Ports)
		if err == nil {
			err = check(deadline)
		}
		if err != nil {
			r.event(corev1.EventTypeWarning, "FailedPreStopHook", fmt.Sprintf("container %s: %v", spec.Name, err))
		}
	}
	return deadline.Err() != nil
}

func hasEnded(p *process.Process) bool {
	select {
	case <-p.Ended():
		return true
	default:
		return false
	}
}

func waitLeast(p *process.Process) {
	timer := time.NewTimer(leastGrace)
	defer timer.Stop()
	select {
	case <-p.Ended():
	case <-timer.C:
	}
}

// forced reports whether the pod was told to stop with no time at all.
func (r *Runner) forced() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.force
}
