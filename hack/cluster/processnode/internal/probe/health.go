// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package probe decides from the answers of a container's probes whether it has started, is
// ready, and must be killed.
package probe

import corev1 "k8s.io/api/core/v1"

// Kind is one of a container's three probes.
type Kind string

// The kinds of probes.
const (
	Startup   Kind = "Startup"
	Readiness Kind = "Readiness"
	Liveness  Kind = "Liveness"
)

// tracker turns single answers into a verdict: so many successes or failures in a row turn it over.
type tracker struct {
	verdict          bool
	last             bool
	inARow           int
	success, failure int
}

func newTracker(spec *corev1.Probe, initial bool) *tracker {
	if spec == nil {
		return nil
	}
	return &tracker{
		verdict: initial,
		success: max(1, int(spec.SuccessThreshold)),
		failure: max(1, int(spec.FailureThreshold)),
	}
}

// observe takes an answer and reports whether a threshold was reached by it.
func (t *tracker) observe(ok bool) bool {
	if t.inARow > 0 && t.last == ok {
		t.inARow++
	} else {
		t.last, t.inARow = ok, 1
	}
	threshold := t.failure
	if ok {
		threshold = t.success
	}
	if t.inARow < threshold {
		return false
	}
	t.verdict = ok
	return true
}

// Health is the state of one running container. It is not safe for concurrent use.
type Health struct {
	startup, readiness, liveness *tracker

	started bool
	kill    Kind
}

// NewHealth is the state of a container that has just begun to run.
func NewHealth(container *corev1.Container) *Health {
	return &Health{
		startup:   newTracker(container.StartupProbe, false),
		readiness: newTracker(container.ReadinessProbe, false),
		liveness:  newTracker(container.LivenessProbe, true),
		started:   container.StartupProbe == nil,
	}
}

// Active reports whether the probe is to be asked now: the startup probe until it succeeds, the
// others from then on, and none once the container must be killed.
func (h *Health) Active(kind Kind) bool {
	if h.kill != "" {
		return false
	}
	switch kind {
	case Startup:
		return h.startup != nil && !h.started
	case Readiness:
		return h.readiness != nil && h.started
	default:
		return h.liveness != nil && h.started
	}
}

// Observe takes an answer of an active probe; an answer that comes too late is ignored.
func (h *Health) Observe(kind Kind, ok bool) {
	if !h.Active(kind) {
		return
	}
	switch kind {
	case Startup:
		if h.startup.observe(ok) {
			h.started = ok
			h.killUnless(ok, kind)
		}
	case Readiness:
		h.readiness.observe(ok)
	case Liveness:
		if h.liveness.observe(ok) {
			h.killUnless(ok, kind)
		}
	}
}

func (h *Health) killUnless(ok bool, kind Kind) {
	if !ok {
		h.kill = kind
	}
}

// Started reports whether the startup probe has succeeded, or there is none.
func (h *Health) Started() bool { return h.started }

// Ready reports whether the container has started and its readiness probe, if any, succeeds.
func (h *Health) Ready() bool {
	return h.started && (h.readiness == nil || h.readiness.verdict)
}

// Kill is the probe because of which the container must be killed, or empty.
func (h *Health) Kill() Kind { return h.kill }
