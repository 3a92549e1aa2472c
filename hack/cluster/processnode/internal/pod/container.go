// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/environ"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/image"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/probe"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/process"
)

// outcome is how an attempt to run a container ended.
type outcome struct {
	ran     bool          // a process ran, or was tried; otherwise the container was not complete
	code    int           // exit code
	lasted  time.Duration // time of the run
	probe   string        // the probe because of which the process was killed
	waiting corev1.ContainerStateWaiting
}

// keepRunning runs a container as often as the restart policy says, and reports whether its last
// run succeeded.
func (r *Runner) keepRunning(c *container) bool {
	policy := r.facts().Pod.Spec.RestartPolicy
	delays := series{Backoff: r.node.Backoff}
	for r.stopping.Err() == nil {
		end := r.attempt(c)
		if r.stopping.Err() != nil {
			return false
		}
		if end.ran && !restarts(policy, c.init, end) {
			return end.code == 0
		}
		delay := delays.after(end.lasted)
		if end.ran {
			end.waiting = corev1.ContainerStateWaiting{
				Reason:  reasonCrashLoop,
				Message: fmt.Sprintf("back-off %s before the next run of container %s", delay, c.name),
			}
			r.event(corev1.EventTypeWarning, "BackOff", end.waiting.Message)
		}
		r.waitForRestart(c, end)
		if !r.sleep(delay) {
			return false
		}
	}
	return false
}

// restarts reports whether a container that ended runs again. An init container that succeeded is
// done; a container killed because of a probe runs again even if it ended well.
func restarts(policy corev1.RestartPolicy, init bool, end outcome) bool {
	switch {
	case policy == corev1.RestartPolicyNever:
		return false
	case policy == corev1.RestartPolicyOnFailure || init:
		return end.code != 0 || end.probe != ""
	default:
		return true
	}
}

func (r *Runner) waitForRestart(c *container, end outcome) {
	r.update(func() {
		if end.ran {
			c.status.LastTerminationState = c.status.State
			c.status.RestartCount++
		}
		c.status.State = corev1.ContainerState{Waiting: &end.waiting}
	})
}

// attempt runs the container's program once and waits for its end.
func (r *Runner) attempt(c *container) outcome {
	spec := r.spec(c)
	command, err := r.command(c, spec)
	if err != nil {
		return r.incomplete(spec, err)
	}
	log, err := r.openLog(c)
	if err != nil {
		return r.incomplete(spec, err)
	}
	defer log.Close()
	command.Output = log
	begin := time.Now()
	p, err := r.node.Starter.Start(command)
	if err != nil {
		r.event(corev1.EventTypeWarning, "Failed", err.Error())
		r.setTerminated(c, corev1.ContainerStateTerminated{
			ExitCode: 128, Reason: reasonStartError, Message: err.Error(),
			StartedAt: metav1.NewTime(begin), FinishedAt: metav1.Now(),
		})
		return outcome{ran: true, code: 128}
	}
	r.setRunning(c, spec, begin)
	r.event(corev1.EventTypeNormal, "Started", fmt.Sprintf("container %s runs as process %d", c.name, p.PID()))
	end := r.watch(c, spec, p)
	exit := p.Exit()
	end.ran, end.code, end.lasted = true, exit.Code, exit.At.Sub(begin)
	r.setTerminated(c, corev1.ContainerStateTerminated{
		ExitCode: int32(exit.Code), Signal: int32(exit.Signal), Reason: exitReason(exit),
		StartedAt: metav1.NewTime(begin), FinishedAt: metav1.NewTime(exit.At), ContainerID: r.containerID(c),
	})
	return end
}

func exitReason(exit process.Exit) string {
	if exit.Code == 0 {
		return reasonCompleted
	}
	return reasonError
}

// watch asks the probes and waits for the end of the process, which comes by itself, because of a
// probe, or because the pod stops.
func (r *Runner) watch(c *container, spec *corev1.Container, p *process.Process) outcome {
	running, ended := context.WithCancel(context.Background())
	defer ended()
	r.askProbes(running, c, spec)
	select {
	case <-p.Ended():
		return outcome{}
	case <-r.stopping.Done():
		r.terminate(r.alive, spec, p)
		return outcome{}
	case kind := <-c.killed:
		r.event(corev1.EventTypeNormal, "Killing", fmt.Sprintf("the %s probe of container %s failed, it is restarted", kind, c.name))
		deadline, cancel := context.WithTimeout(r.alive, r.probeGrace(spec, kind))
		defer cancel()
		r.terminate(deadline, spec, p)
		return outcome{probe: kind}
	}
}

// incomplete is the outcome when something is missing that may still come.
func (r *Runner) incomplete(spec *corev1.Container, err error) outcome {
	reason := reasonConfigError
	if _, ok := errors.AsType[*image.MissingError](err); ok {
		reason = reasonImagePull
	}
	if r.stopping.Err() == nil {
		r.event(corev1.EventTypeWarning, "Failed", err.Error())
	}
	r.log.Warn("container cannot start yet", "container", spec.Name, "error", err)
	return outcome{waiting: corev1.ContainerStateWaiting{Reason: reason, Message: err.Error()}}
}

// command is what to run for a container: its program in the image's folder, and its arguments
// and environment with the variables filled in and the mount paths rewritten.
func (r *Runner) command(c *container, spec *corev1.Container) (process.Spec, error) {
	facts := r.facts()
	ctx, cancel := context.WithTimeout(r.stopping, readTimeout)
	defer cancel()
	var vars environ.Variables
	vars.Set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	vars.Set("HOSTNAME", facts.Pod.Name)
	vars.Set("HOME", r.workDir())
	vars.Set("TMPDIR", r.workDir())
	if account := r.kubeconfig(); account != "" {
		vars.Set("KUBECONFIG", account)
		vars.Set("POD_NAMESPACE", facts.Pod.Namespace)
	}
	if err := environ.Define(ctx, &vars, spec, facts, r.node.Objects); err != nil {
		return process.Spec{}, err
	}
	var mounts []environ.Mount
	for _, mount := range spec.VolumeMounts {
		mounts = append(mounts, environ.Mount{Path: mount.MountPath, Dir: r.volumeDir(mount.Name)})
	}
	rewriter := environ.NewRewriter(mounts)
	fill := func(texts []string) []string {
		filled := make([]string, 0, len(texts))
		for _, text := range texts {
			filled = append(filled, rewriter.Rewrite(environ.Expand(text, vars.Lookup)))
		}
		return filled
	}
	resolved, err := r.node.Images.Resolve(spec.Image, fill(spec.Command), fill(spec.Args))
	if err != nil {
		return process.Spec{}, err
	}
	r.mu.Lock()
	c.status.ImageID = "process://" + spec.Image + "@" + resolved.Digest
	r.mu.Unlock()
	dir := r.workDir()
	if spec.WorkingDir != "" {
		if mounted := rewriter.Rewrite(spec.WorkingDir); mounted != spec.WorkingDir {
			dir = mounted
		}
	}
	return process.Spec{Path: resolved.Program, Args: resolved.Args, Env: vars.Strings(rewriter.Rewrite), Dir: dir}, nil
}

func (r *Runner) kubeconfig() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.account
}

func (r *Runner) setRunning(c *container, spec *corev1.Container, begin time.Time) {
	r.update(func() {
		c.health = probe.NewHealth(spec)
		select {
		case <-c.killed:
		default:
		}
		c.status.Image = spec.Image
		c.status.ContainerID = r.containerID(c)
		c.status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(begin)}}
		c.status.Ready, c.status.Started = c.health.Ready(), new(c.health.Started())
	})
}

func (r *Runner) setTerminated(c *container, state corev1.ContainerStateTerminated) {
	r.update(func() {
		c.health = nil
		// An init container that has done its work stays ready.
		c.status.Ready, c.status.Started = c.init && state.ExitCode == 0, new(false)
		c.status.State = corev1.ContainerState{Terminated: &state}
	})
}

// containerID is unique for each run of a container.
func (r *Runner) containerID(c *container) string {
	return fmt.Sprintf("process://%s/%s/%d", r.uid, c.name, c.status.RestartCount)
}
