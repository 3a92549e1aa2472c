// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
)

// families reads the time series as Prometheus does.
func families(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	recorder := httptest.NewRecorder()
	NewHandler(Options{Metrics: m.Write, Log: noLog}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, MetricsPath, nil))
	if format := expfmt.ResponseFormat(recorder.Header()); format != expfmt.NewFormat(expfmt.TypeTextPlain) {
		t.Errorf("the answer is not in the text format: %q", recorder.Header().Get("Content-Type"))
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(recorder.Body)
	if err != nil {
		t.Fatalf("the time series cannot be read: %v", err)
	}
	return parsed
}

// everything has a value in each family.
func everything(names ...string) *Metrics {
	now := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	m := NewMetrics(func() receiverstatus.Status {
		return receiverstatus.Status{
			Database:   receiverstatus.Database{Reachable: true, Durable: true},
			Deliveries: &receiverstatus.Deliveries{Pending: 2, OldestPending: now.Add(-1500 * time.Millisecond)},
			Keyring:    receiverstatus.Keyring{Revision: 3, Loaded: now},
			Secrets:    []receiverstatus.Secret{{Role: "previous", NotAfter: now.Add(time.Hour)}},
		}
	}, func() time.Time { return now })
	m.Counted(receiver.CountProcessed)
	m.Verified("current")
	for _, name := range names {
		delivery := receiver.Delivery{Destination: name}
		m.Answered(http.StatusUnauthorized, name, 20*time.Millisecond)
		m.Attempted(receiver.Settlement{Delivery: delivery, Outcome: receiver.Delivered, Duration: 90 * time.Second})
		m.LeasesLost([]receiver.Delivery{delivery})
		m.EffectFailed(name)
	}
	return m
}

func TestPrometheusReadsEachFamilyWithItsTypeAndItsHelp(t *testing.T) {
	got := families(t, everything("sink"))
	types := map[string]dto.MetricType{
		requests: dto.MetricType_COUNTER, verifications: dto.MetricType_COUNTER, refusals: dto.MetricType_COUNTER,
		attempts: dto.MetricType_COUNTER, leasesLost: dto.MetricType_COUNTER, effectFailures: dto.MetricType_COUNTER,
		duration: dto.MetricType_HISTOGRAM, attemptDuration: dto.MetricType_HISTOGRAM,
		pending: dto.MetricType_GAUGE, failed: dto.MetricType_GAUGE, oldest: dto.MetricType_GAUGE, up: dto.MetricType_GAUGE,
		durable: dto.MetricType_GAUGE, ring: dto.MetricType_GAUGE, loaded: dto.MetricType_GAUGE, usable: dto.MetricType_GAUGE,
		expiry: dto.MetricType_GAUGE,
	}
	for name, want := range types {
		family := got[name]
		if family == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if family.GetType() != want || family.GetHelp() != help[name] || family.GetHelp() == "" {
			t.Errorf("%s is a %s with the help %q, want %s with %q", name, family.GetType(), family.GetHelp(), want, help[name])
		}
	}
	for name := range got {
		if _, known := types[name]; strings.HasPrefix(name, "hookonce_") && !known {
			t.Errorf("%s is not in this test", name)
		}
	}
	// What dashboards of any Go program show.
	for _, name := range []string{
		"go_goroutines", "go_info", "go_memstats_heap_alloc_bytes", "go_gc_duration_seconds", "process_cpu_seconds_total",
		"process_resident_memory_bytes", "process_start_time_seconds", "process_open_fds", "process_max_fds",
	} {
		if family := got[name]; family == nil || family.Type == nil {
			t.Errorf("%s is missing, or has no type", name)
		}
	}
}

func TestHistogramsAreWhatPrometheusTakesThemFor(t *testing.T) {
	m := NewMetrics(func() receiverstatus.Status { return receiverstatus.Status{} }, time.Now)
	for _, took := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 10 * time.Second, time.Minute} {
		m.Answered(http.StatusOK, "", took)
	}
	got := families(t, m)[duration].GetMetric()[0].GetHistogram()
	counts := map[float64]uint64{}
	for _, bucket := range got.GetBucket() {
		counts[bucket.GetUpperBound()] = bucket.GetCumulativeCount()
	}
	want := map[float64]uint64{
		.001: 1, .0025: 2, .005: 2, .01: 2, .025: 2, .05: 2, .1: 2, .25: 2, .5: 2, 1: 2, 2.5: 2, 5: 2, 10: 3, math.Inf(1): 4,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
	if got.GetSampleCount() != 4 || got.GetSampleSum() != 70.003 {
		t.Errorf("%d requests took %v s, want 4 and 70.003", got.GetSampleCount(), got.GetSampleSum())
	}
}

func TestValuesOfLabelsArriveAsTheyAre(t *testing.T) {
	names := map[string]string{
		"plain": "plain", `"quoted"`: `"quoted"`, `back\slash`: `back\slash`, `ends with \`: `ends with \`, "two\nlines": "two\nlines",
		"brace{}=,": "brace{}=,", "tab\tand \x7f": "tab\tand \x7f", "Ünïcode ☃": "Ünïcode ☃", "bro\xffken": "bro\uFFFDken", "": "",
	}
	var given []string
	want := map[string]float64{}
	for name, arrives := range names {
		given = append(given, name)
		want[arrives] = 1
	}
	for family, label := range map[string]string{effectFailures: "effect", leasesLost: "destination", attempts: "destination"} {
		got := map[string]float64{}
		for _, metric := range families(t, everything(given...))[family].GetMetric() {
			for _, pair := range metric.GetLabel() {
				if pair.GetName() == label {
					got[pair.GetValue()] += metric.GetCounter().GetValue()
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s by %s (-want +got):\n%s", family, label, diff)
		}
	}
}

func TestScrapesAreLimited(t *testing.T) {
	var scrapes atomic.Int32
	begun, end := make(chan struct{}), make(chan struct{})
	handler := NewHandler(Options{Log: noLog, Metrics: func(io.Writer) {
		if scrapes.Add(1) <= maxScrapes {
			begun <- struct{}{}
			<-end
		}
	}})
	codes := make(chan int)
	for range maxScrapes {
		go func() {
			code, _ := get(handler, http.MethodGet, MetricsPath)
			codes <- code
		}()
		<-begun
	}
	if code, _ := get(handler, http.MethodGet, MetricsPath); code != http.StatusServiceUnavailable {
		t.Errorf("one more is answered %d", code)
	}
	close(end)
	for range maxScrapes {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("a scrape within the limit is answered %d", code)
		}
	}
}
