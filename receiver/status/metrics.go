// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
)

// The results of requests that are not called as their counts.
const (
	resultDuplicate   = "duplicate"
	resultUnavailable = "unavailable"
)

// The families of the receiver's own time series, and what each is, for people.
const (
	requests        = "hookonce_requests_total"
	duration        = "hookonce_request_duration_seconds"
	verifications   = "hookonce_signature_verifications_total"
	refusals        = "hookonce_refusals_total"
	attempts        = "hookonce_relay_attempts_total"
	attemptDuration = "hookonce_relay_attempt_duration_seconds"
	leasesLost      = "hookonce_leases_lost_total"
	effectFailures  = "hookonce_effect_failures_total"
)

var help = map[string]string{
	requests:        "Requests to the endpoint's path by result: processed, duplicate, refused, rejected or unavailable.",
	duration:        "Time from a request's headers to its answer, by class of status.",
	verifications:   "Signatures that held, by the role of the secret that they were made with.",
	refusals:        "Requests that were rejected, or could not be served, by cause.",
	attempts:        "Attempts to deliver to a destination by outcome.",
	attemptDuration: "Time that attempts took.",
	leasesLost: "Attempts that could not be booked before their lease ran out. They are made again: the destination may have " +
		"got the delivery twice, with the same key.",
	effectFailures: "Events that were answered 503 because an effect's function failed.",
	pending:        "Deliveries to destinations that are not finished, over all receivers of the endpoint.",
	failed:         "Deliveries to destinations that ran out of attempts, over all receivers of the endpoint.",
	oldest:         "Age of the oldest unfinished delivery; 0 if there is none.",
	up:             "Whether the last check found the database usable: it answers and has the schema of this build.",
	durable:        "Whether the database keeps what it acknowledges, by the last check.",
	ring:           "Revision of the keyring in force.",
	loaded:         "When the keyring in force was loaded.",
	usable:         "Whether the mounted configuration and keyring could be used when they last changed.",
	expiry:         "When the last previous secret stops being accepted; absent if there is none.",
}

var (
	durationBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	attemptBuckets  = []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
)

// Metrics are the receiver's time series, in a set of their own. Their labels take values from fixed sets and from
// the configuration, never from a request. Which endpoint they are of is the pod's label, added by the scrape.
type Metrics struct {
	set    *metrics.Set
	status func() receiverstatus.Status
	now    func() time.Time

	// What every request needs is looked up once: durations by hundreds of the code, results of accepted requests by the name
	// of their count, and verifications by role.
	durations [6]atomic.Pointer[metrics.PrometheusHistogram]
	accepted  [3]atomic.Pointer[metrics.Counter]
	lastRole  atomic.Pointer[verified]
}

// verified counts the signatures of one role.
type verified struct {
	role    string
	counter *metrics.Counter
}

// NewMetrics returns the time series; status is asked at each scrape and must not block.
func NewMetrics(status func() receiverstatus.Status, now func() time.Time) *Metrics {
	// The types of series are told to who scrapes, in every set of the process.
	metrics.ExposeMetadata(true)
	return &Metrics{set: metrics.NewSet(), status: status, now: now}
}

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
func (m *Metrics) acceptedAs(i int, result string) *metrics.Counter {
	if known := m.accepted[i].Load(); known != nil {
		return known
	}
	counter := m.counter(requests, "result", result)
	m.accepted[i].Store(counter)
	return counter
}

// Answered measures an answered request and counts the cause if it was not accepted; a cause is a fixed word. Requests
// for another path or with another method only count in the durations: anybody can send them.
func (m *Metrics) Answered(code int, cause string, took time.Duration) {
	m.durationOf(code / 100).Update(took.Seconds())
	switch {
	case cause == "" || code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
	case code >= http.StatusInternalServerError:
		m.counter(requests, "result", resultUnavailable).Inc()
		m.counter(refusals, "cause", cause).Inc()
	default:
		m.counter(requests, "result", receiver.CountRejected).Inc()
		m.counter(refusals, "cause", cause).Inc()
	}
}

func (m *Metrics) durationOf(hundreds int) *metrics.PrometheusHistogram {
	known := &m.durations[min(max(hundreds, 0), len(m.durations)-1)]
	if histogram := known.Load(); histogram != nil {
		return histogram
	}
	histogram := m.set.GetOrCreatePrometheusHistogramExt(series(duration, "code", strconv.Itoa(hundreds)+"xx"), durationBuckets)
	known.Store(histogram)
	return histogram
}

// Verified counts a signature that held with a secret of the given role.
func (m *Metrics) Verified(role string) {
	last := m.lastRole.Load()
	if last == nil || last.role != role {
		last = &verified{role, m.counter(verifications, "secret", role)}
		m.lastRole.Store(last)
	}
	last.counter.Inc()
}

// Attempted counts an attempt of the relay.
func (m *Metrics) Attempted(s receiver.Settlement) {
	destination := s.Delivery.Destination
	m.counter(attempts, "destination", destination, "outcome", outcomeLabel(s.Outcome)).Inc()
	m.set.GetOrCreatePrometheusHistogramExt(series(attemptDuration, "destination", destination), attemptBuckets).
		Update(s.Duration.Seconds())
}

// LeasesLost counts attempts that could not be booked before their lease ran out.
func (m *Metrics) LeasesLost(deliveries []receiver.Delivery) {
	for _, d := range deliveries {
		m.counter(leasesLost, "destination", d.Destination).Inc()
	}
}

// EffectFailed counts an event that could not be recorded because an effect's function failed.
func (m *Metrics) EffectFailed(effect string) {
	m.counter(effectFailures, "effect", effect).Inc()
}

func (m *Metrics) counter(family string, labels ...string) *metrics.Counter {
	return m.set.GetOrCreateCounter(series(family, labels...))
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
