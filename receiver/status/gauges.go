// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"io"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// What the status document says, as time series.
const (
	pending = "hookonce_ledger_pending"
	failed  = "hookonce_ledger_failed"
	oldest  = "hookonce_ledger_oldest_pending_age_seconds"
	up      = "hookonce_database_up"
	durable = "hookonce_database_durable"
	ring    = "hookonce_keyring_revision"
	loaded  = "hookonce_keyring_load_timestamp_seconds"
	usable  = "hookonce_mounts_usable"
	expiry  = "hookonce_previous_secret_not_after_timestamp_seconds"
)

// writeGauges turns the status document into time series. What is not known yet is absent, not zero.
func writeGauges(w io.Writer, status receiverstatus.Status, now time.Time) {
	metrics.WriteGaugeFloat64(w, up, truth(status.Database.Reachable))
	metrics.WriteGaugeFloat64(w, usable, truth(status.Config.Error == "" && status.Keyring.Error == ""))
	metrics.WriteGaugeFloat64(w, ring, float64(status.Keyring.Revision))
	if status.Database.Reachable {
		metrics.WriteGaugeFloat64(w, durable, truth(status.Database.Durable))
	}
	if !status.Keyring.Loaded.IsZero() {
		metrics.WriteGaugeFloat64(w, loaded, seconds(status.Keyring.Loaded))
	}
	if last := lastNotAfter(status.Secrets); !last.IsZero() {
		metrics.WriteGaugeFloat64(w, expiry, seconds(last))
	}
	if d := status.Deliveries; d != nil {
		metrics.WriteGaugeFloat64(w, pending, float64(d.Pending))
		metrics.WriteGaugeFloat64(w, failed, float64(d.Failed))
		age := 0.0
		if !d.OldestPending.IsZero() {
			age = max(0, now.Sub(d.OldestPending).Seconds())
		}
		metrics.WriteGaugeFloat64(w, oldest, age)
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
