// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
)

const namespace = "hookonce"

// The results of requests that are not called as their counts.
const (
	resultDuplicate   = "duplicate"
	resultUnavailable = "unavailable"
)

// Metrics are the receiver's time series, in a registry of their own. Their labels take values from fixed sets and from
// the configuration, never from a request. Which endpoint they are of is the pod's label, added by the scrape.
type Metrics struct {
	registry        *prometheus.Registry
	requests        *prometheus.CounterVec
	duration        *prometheus.HistogramVec
	verifications   *prometheus.CounterVec
	refusals        *prometheus.CounterVec
	attempts        *prometheus.CounterVec
	attemptDuration *prometheus.HistogramVec
	leasesLost      *prometheus.CounterVec
	effectFailures  *prometheus.CounterVec

	// What every request needs is looked up once: durations by hundreds of the code, results of accepted requests by the name
	// of their count, and verifications by role.
	durations [6]atomic.Pointer[prometheus.Observer]
	accepted  [3]atomic.Pointer[prometheus.Counter]
	lastRole  atomic.Pointer[verified]
}

// verified counts the signatures of one role.
type verified struct {
	role    string
	counter prometheus.Counter
}

// NewMetrics returns the time series; status is asked at each scrape and must not block.
func NewMetrics(status func() receiverstatus.Status, now func() time.Time) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_total",
			Help: "Requests to the endpoint's path by result: processed, duplicate, refused, rejected or unavailable.",
		}, []string{"result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "request_duration_seconds",
			Help:    "Time from a request's headers to its answer, by class of status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"code"}),
		verifications: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "signature_verifications_total",
			Help: "Signatures that held, by the role of the secret that they were made with.",
		}, []string{"secret"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "refusals_total",
			Help: "Requests that were rejected, or could not be served, by cause.",
		}, []string{"cause"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "relay_attempts_total",
			Help: "Attempts to deliver to a destination by outcome.",
		}, []string{"destination", "outcome"}),
		attemptDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "relay_attempt_duration_seconds", Help: "Time that attempts took.",
			Buckets: []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"destination"}),
		leasesLost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "leases_lost_total",
			Help: "Attempts that could not be booked before their lease ran out. They are made again: the destination may have " +
				"got the delivery twice, with the same key.",
		}, []string{"destination"}),
		effectFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "effect_failures_total",
			Help: "Events that were answered 503 because an effect's function failed.",
		}, []string{"effect"}),
	}
	m.registry.MustRegister(
		m.requests, m.duration, m.verifications, m.refusals, m.attempts, m.attemptDuration, m.leasesLost, m.effectFailures,
		&gauges{status: status, now: now},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Gatherer returns the registry.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Counted counts an accepted request by its name in the tally. What was refused is counted by Answered.
func (m *Metrics) Counted(name string) {
	switch name {
	case receiver.CountProcessed:
		m.acceptedAs(0, name).Inc()
	case receiver.CountRefused:
		m.acceptedAs(1, name).Inc()
	case receiver.CountDuplicates:
		m.acceptedAs(2, resultDuplicate).Inc()
	}
}

// acceptedAs looks the result up when it first occurs, so that one that never does makes no series.
func (m *Metrics) acceptedAs(i int, result string) prometheus.Counter {
	if known := m.accepted[i].Load(); known != nil {
		return *known
	}
	counter := m.requests.WithLabelValues(result)
	m.accepted[i].Store(&counter)
	return counter
}

// Answered measures an answered request and counts the cause if it was not accepted; a cause is a fixed word. Requests
// for another path or with another method only count in the durations: anybody can send them.
func (m *Metrics) Answered(code int, cause string, duration time.Duration) {
	m.durationOf(code / 100).Observe(duration.Seconds())
	switch {
	case cause == "" || code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
	case code >= http.StatusInternalServerError:
		m.requests.WithLabelValues(resultUnavailable).Inc()
		m.refusals.WithLabelValues(cause).Inc()
	default:
		m.requests.WithLabelValues(receiver.CountRejected).Inc()
		m.refusals.WithLabelValues(cause).Inc()
	}
}

func (m *Metrics) durationOf(hundreds int) prometheus.Observer {
	known := &m.durations[min(max(hundreds, 0), len(m.durations)-1)]
	if observer := known.Load(); observer != nil {
		return *observer
	}
	observer := m.duration.WithLabelValues(strconv.Itoa(hundreds) + "xx")
	known.Store(&observer)
	return observer
}

// Verified counts a signature that held with a secret of the given role.
func (m *Metrics) Verified(role string) {
	last := m.lastRole.Load()
	if last == nil || last.role != role {
		last = &verified{role, m.verifications.WithLabelValues(role)}
		m.lastRole.Store(last)
	}
	last.counter.Inc()
}

// Attempted counts an attempt of the relay.
func (m *Metrics) Attempted(s receiver.Settlement) {
	m.attempts.WithLabelValues(s.Delivery.Destination, outcomeLabel(s.Outcome)).Inc()
	m.attemptDuration.WithLabelValues(s.Delivery.Destination).Observe(s.Duration.Seconds())
}

// LeasesLost counts attempts that could not be booked before their lease ran out.
func (m *Metrics) LeasesLost(deliveries []receiver.Delivery) {
	for _, d := range deliveries {
		m.leasesLost.WithLabelValues(d.Destination).Inc()
	}
}

// EffectFailed counts an event that could not be recorded because an effect's function failed.
func (m *Metrics) EffectFailed(effect string) {
	m.effectFailures.WithLabelValues(effect).Inc()
}

func outcomeLabel(outcome receiver.Outcome) string {
	switch outcome {
	case receiver.Delivered:
		return "delivered"
	case receiver.Retry:
		return "retry"
	case receiver.Exhausted:
		return "exhausted"
	}
	return "unknown"
}
