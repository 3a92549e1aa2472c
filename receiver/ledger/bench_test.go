// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"log/slog"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/test/postgres"
)

// BenchmarkRecord measures Record alone, without HTTP: events of 1 KiB from 64 callers at once.
func BenchmarkRecord(b *testing.B) {
	for name, w := range map[string]receiver.Work{
		"stored": {}, "one destination": {Destinations: []string{"fulfilment"}},
		"one effect": {Effects: []receiver.Effect{{Name: "book", Function: "shop.book"}}},
	} {
		b.Run(name, func(b *testing.B) { benchmarkRecord(b, w, false) })
		b.Run(name+", duplicates", func(b *testing.B) { benchmarkRecord(b, w, true) })
	}
}

func benchmarkRecord(b *testing.B, w receiver.Work, duplicates bool) {
	url := postgres.New(b)
	if err := ledger.Migrate(b.Context(), url, ""); err != nil {
		b.Fatal(err)
	}
	execOn(b, url, shop)
	l, err := ledger.Open(b.Context(), ledger.Options{
		URL: ledger.StaticURL(url), Endpoint: "shop/payments", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	body := bytes.Repeat([]byte("x"), 1024)
	digest := sha256.Sum256(body)
	headers := []byte(`{"content-type":["application/json"],"webhook-id":["evt_0123456789"],"webhook-timestamp":["1700000000"]}`)
	var n atomic.Int64
	one := func(id string) {
		e := receiver.Event{
			ID: id, Type: "invoice.paid", ContentType: "application/json", Headers: headers, Body: body, BodyDigest: digest,
		}
		if _, err := l.Record(b.Context(), e, w); err != nil {
			b.Error(err)
		}
	}
	const known = 1000
	for i := range known {
		one("dup_" + strconv.Itoa(i))
	}
	b.ReportAllocs()
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			i := n.Add(1)
			if duplicates {
				one("dup_" + strconv.FormatInt(i%known, 10))
			} else {
				one("evt_" + strconv.FormatInt(i, 10))
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
