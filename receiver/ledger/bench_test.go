// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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
	server := postgres.Shared(b)
	own, theirs := ownTime(b), serverTime(b, server.Pid())
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
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64((ownTime(b)-own).Microseconds())/float64(b.N), "own-us/op")
	b.ReportMetric(float64((serverTime(b, server.Pid())-theirs).Microseconds())/float64(b.N), "server-us/op")
}

// ownTime is the processor time that this process has used.
func ownTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// serverTime is the processor time that a server's processes have used which still run.
func serverTime(tb testing.TB, postmaster int) time.Duration {
	tb.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		tb.Fatal(err)
	}
	const tick = 10 * time.Millisecond
	var sum time.Duration
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			// It has ended meanwhile.
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if fields[1] != strconv.Itoa(postmaster) {
			continue
		}
		for _, field := range fields[11:13] {
			n, err := strconv.Atoi(field)
			if err != nil {
				tb.Fatal(err)
			}
			sum += time.Duration(n) * tick
		}
	}
	return sum
}
