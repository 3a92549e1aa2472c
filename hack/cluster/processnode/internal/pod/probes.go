// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/probe"
)

// askProbes asks the container's probes until its process has ended. Once the pod stops, only
// readiness is still asked, as the kubelet does.
func (r *Runner) askProbes(running context.Context, c *container, spec *corev1.Container) {
	untilStop, cancel := context.WithCancel(running)
	context.AfterFunc(r.stopping, cancel)
	for kind, p := range map[probe.Kind]*corev1.Probe{
		probe.Startup: spec.StartupProbe, probe.Readiness: spec.ReadinessProbe, probe.Liveness: spec.LivenessProbe,
	} {
		if p == nil {
			continue
		}
		ctx := untilStop
		if kind == probe.Readiness {
			ctx = running
		}
		go r.ask(ctx, c, spec, kind, p)
	}
}

func (r *Runner) ask(ctx context.Context, c *container, spec *corev1.Container, kind probe.Kind, p *corev1.Probe) {
	check, err := probe.New(p.ProbeHandler, r.ip, spec.Ports)
	if err != nil {
		check = func(context.Context) error { return err }
	}
	timer := time.NewTimer(time.Duration(p.InitialDelaySeconds) * time.Second)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			timer.Reset(probe.Period(p))
		}
		if !r.probeActive(c, kind) {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, probe.Timeout(p))
		err := check(asking)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.event(corev1.EventTypeWarning, "Unhealthy", fmt.Sprintf("%s probe of container %s failed: %v", kind, c.name, err))
		}
		r.observe(ctx, c, kind, err == nil)
	}
}

func (r *Runner) probeActive(c *container, kind probe.Kind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.health != nil && c.health.Active(kind)
}

func (r *Runner) observe(ctx context.Context, c *container, kind probe.Kind, ok bool) {
	r.update(func() {
		if ctx.Err() != nil || c.health == nil {
			return
		}
		c.health.Observe(kind, ok)
		c.status.Ready, c.status.Started = c.health.Ready(), new(c.health.Started())
		if c.health.Kill() == "" {
			return
		}
		select {
		case c.killed <- string(c.health.Kill()):
		default:
		}
	})
}

// probeGrace is how long a container gets to end when a probe has failed: the probe's own time,
// or else the pod's.
func (r *Runner) probeGrace(spec *corev1.Container, kind string) time.Duration {
	p := spec.LivenessProbe
	if kind == string(probe.Startup) {
		p = spec.StartupProbe
	}
	if p != nil && p.TerminationGracePeriodSeconds != nil {
		return time.Duration(*p.TerminationGracePeriodSeconds) * time.Second
	}
	return Grace(r.facts().Pod)
}

// Grace is the time that the pod's own spec gives it to end, 30 s by default.
func Grace(pod *corev1.Pod) time.Duration {
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		return time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
	}
	return corev1.DefaultTerminationGracePeriodSeconds * time.Second
}
