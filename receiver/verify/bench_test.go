// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
)

// kibibyte is an event of 1 KiB as providers send them: a few members, some nested, most of them texts.
func kibibyte() string {
	const head = `{"event_id":"evt_123","event_type":"invoice.paid","type":"invoice.paid","version":1,"occurred_at":1700000000,` +
		`"data":{"id":"r_1","invoice_id":"inv_123","amount":"10.00","currency":"USDT","items":[`
	const item = `{"sku":"a-1","count":2,"price":"5.00","taxed":true},`
	const tail = `{}],"note":"` + `"}}`
	body := head + strings.Repeat(item, 10)
	return body + `{}],"note":"` + strings.Repeat("n", 1024-len(body)-len(tail)) + `"}}`
}

func BenchmarkVerify(b *testing.B) {
	for _, name := range []string{scheme.Paymos, scheme.StandardWebhooks, scheme.GitHub} {
		s := preset(b, name)
		r := signedRequest(b, s, kibibyte(), now, key)
		for _, test := range []struct {
			name    string
			secrets [][]byte
		}{{"one secret", [][]byte{key}}, {"two secrets", [][]byte{oldKey, key}}} {
			secrets := secretsOf(test.secrets...)
			b.Run(name+"/"+test.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Verify(s, secrets, r, now, tolerance); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkScan(b *testing.B) {
	body := []byte(kibibyte())
	v := New(preset(b, scheme.Paymos))
	work := v.newScratch()
	b.ReportAllocs()
	for b.Loop() {
		if err := work.scan(body, v.tree); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHMAC(b *testing.B) {
	body := []byte(kibibyte())
	v := New(preset(b, scheme.Paymos))
	work := v.newScratch()
	work.message, work.split = []byte("1700000000."), len("1700000000.")
	b.ReportAllocs()
	for b.Loop() {
		v.mac(work, 0, key, work.message, body)
	}
}

func BenchmarkNew(b *testing.B) {
	s := preset(b, scheme.Paymos)
	b.ReportAllocs()
	for b.Loop() {
		New(s)
	}
}
