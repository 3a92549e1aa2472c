// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"slices"
	"strings"
)

// titles of the tables, by the first word of the figures in them.
var titles = []struct{ prefix, title string }{
	{"control", "Noise"},
	{"ingest", "Ingest"},
	{"peers", "Ingest beside what people write"},
	{"effect", "Ingest with an effect"},
	{"latency", "Latency"},
	{"overload", "Overload"},
	{"growth", "Growth"},
	{"memory", "Memory"},
	{"machine", "The machine during the run"},
}

// meanings of figures, by the beginnings of their names; the longest that fits counts.
var meanings = map[string]string{
	"ingest.vs_limit":          "events/s against the limit with batches of 50",
	"ingest.vs_pgbench_single": "events/s against pgbench with one event in a transaction",
	"ingest.vs_river":          "events/s against the handler with River",
	"ingest.vs_handwritten":    "events/s against the handwritten handler",
	"ingest.rate.limit":        "events/s, the limit: HTTP alone and SQL alone, one after the other",
	"ingest.rate.ours":         "events/s, Hookonce",
	"ingest.rate.control":      "events/s, Hookonce a second time",
	"ingest.rate.empty":        "requests/s, the handler that stores nothing",
	"ingest.rate.fifty":        "events/s, pgbench with 50 events in a transaction",
	"ingest.rate.one":          "events/s, pgbench with one event in a transaction",
	"ingest.cpu_us":            "microseconds of CPU for each event",
	"ingest.cpu_vs_limit":      "CPU of the limit against Hookonce's",
	"ingest.refused":           "part that was answered 503 at saturation",
	"control.ingest":           "events/s of Hookonce against Hookonce; 1 without noise",
	"control.limit_drift":      "the limit after Hookonce's turn against the limit before it; 1 without noise",
	"control.latency":          "time of Hookonce against Hookonce's; 1 without noise",
	"peers.rate":               "events/s",
	"peers.cpu_us":             "microseconds of CPU for each event",
	"peers.cpu_vs":             "CPU of the other against Hookonce's",
	"peers.refused":            "part that was answered 503",
	"effect.vs_limit":          "events/s with an effect against the limit with the same",
	"effect.rate.limit":        "events/s, the limit",
	"effect.rate.ours":         "events/s, Hookonce",
	"effect.rate.empty":        "requests/s, the handler that stores nothing",
	"effect.rate.effect":       "events/s, pgbench with one event and its effect in a transaction",
	"effect.cpu_us":            "microseconds of CPU for each event",
	"effect.cpu_vs_limit":      "CPU of the limit against Hookonce's",
	"effect.refused":           "part that was answered 503 at saturation",
	"latency.p50":              "median time against pgbench's at the same rate",
	"latency.p99":              "99th percentile against pgbench's at the same rate",
	"latency.parts":            "time against pgbench's and the empty handler's together",
	"latency.ms":               "milliseconds",
	"latency.offered":          "requests/s of at_half: half of what the slower of the two does at saturation",
	"latency.held":             "what was done of that rate; about 1, or the figures beside it mean nothing",
	"overload.accepted_p99_ms": "milliseconds until an acknowledgment, 99th percentile",
	"overload.refused_p99_ms":  "milliseconds until a 503, 99th percentile",
	"overload.refused_share":   "part that was answered 503",
	"overload.kept":            "acknowledged against what it acknowledges without overload",
	"overload.rate":            "acknowledged a second",
	"growth.rate":              "events/s with many claims against few",
	"growth.rate.":             "events/s",
	"growth.p99":               "99th percentile with many claims against few, at half of the rate at saturation",
	"growth.ms":                "milliseconds",
	"growth.retained":          "claims of the old ledger",
	"memory.idle":              "resident memory against the least program's",
	"memory.in_flight":         "growth of resident memory against the bytes in flight",
	"memory.idle_mib":          "MiB",
	"memory.in_flight_mib":     "MiB",
	"machine.others":           "part of the processors' time that other programs took, of all turns",
	"machine.sync_us":          "microseconds until the disk has kept 8 KiB",
	"machine.discarded_rounds": "rounds that do not count",
	"machine.seconds":          "seconds that all took",
}

func meaning(name string) string {
	longest := func(a, b string) int { return len(a) - len(b) }
	for _, beginning := range slices.Backward(slices.SortedFunc(maps.Keys(meanings), longest)) {
		if strings.HasPrefix(name, beginning) {
			return meanings[beginning]
		}
	}
	return ""
}
