// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

var (
	pendingDesc = gaugeDesc("ledger_pending", "Deliveries to destinations that are not finished, over all receivers of the endpoint.")
	failedDesc  = gaugeDesc("ledger_failed", "Deliveries to destinations that ran out of attempts, over all receivers of the endpoint.")
	oldestDesc  = gaugeDesc("ledger_oldest_pending_age_seconds", "Age of the oldest unfinished delivery; 0 if there is none.")
	upDesc      = gaugeDesc("database_up", "Whether the last check found the database usable: it answers and has the schema of this build.")
	durableDesc = gaugeDesc("database_durable", "Whether the database keeps what it acknowledges, by the last check.")
	ringDesc    = gaugeDesc("keyring_revision", "Revision of the keyring in force.")
	loadedDesc  = gaugeDesc("keyring_load_timestamp_seconds", "When the keyring in force was loaded.")
	usableDesc  = gaugeDesc("mounts_usable", "Whether the mounted configuration and keyring could be used when they last changed.")
	expiryDesc  = gaugeDesc("previous_secret_not_after_timestamp_seconds",
		"When the last previous secret stops being accepted; absent if there is none.")
)

func gaugeDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, nil, nil)
}

// gauges turns the status document into time series at each scrape.
type gauges struct {
	status func() receiverstatus.Status
	now    func() time.Time
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		pendingDesc, failedDesc, oldestDesc, upDesc, durableDesc, ringDesc, loadedDesc, usableDesc, expiryDesc,
	} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector. What is not known yet is absent, not zero.
func (g *gauges) Collect(metrics chan<- prometheus.Metric) {
	status := g.status()
	gauge := func(desc *prometheus.Desc, value float64) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	gauge(upDesc, truth(status.Database.Reachable))
	gauge(usableDesc, truth(status.Config.Error == "" && status.Keyring.Error == ""))
	gauge(ringDesc, float64(status.Keyring.Revision))
	if status.Database.Reachable {
		gauge(durableDesc, truth(status.Database.Durable))
	}
	if !status.Keyring.Loaded.IsZero() {
		gauge(loadedDesc, seconds(status.Keyring.Loaded))
	}
	if last := lastNotAfter(status.Secrets); !last.IsZero() {
		gauge(expiryDesc, seconds(last))
	}
	if d := status.Deliveries; d != nil {
		gauge(pendingDesc, float64(d.Pending))
		gauge(failedDesc, float64(d.Failed))
		age := 0.0
		if !d.OldestPending.IsZero() {
			age = max(0, g.now().Sub(d.OldestPending).Seconds())
		}
		gauge(oldestDesc, age)
	}
}

func lastNotAfter(secrets []receiverstatus.Secret) time.Time {
	var last time.Time
	for _, secret := range secrets {
		if secret.NotAfter.After(last) {
			last = secret.NotAfter
		}
	}
	return last
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func truth(value bool) float64 {
	if value {
		return 1
	}
	return 0
}
