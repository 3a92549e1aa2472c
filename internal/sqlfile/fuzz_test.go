// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlfile_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hookonce/hookonce/internal/sqlfile"
)

// FuzzQuote: what is quoted is the name between quotes, which it cannot end, and nothing else.
func FuzzQuote(f *testing.F) {
	for _, name := range []string{"shop.on_invoice_paid", "order", "", ".", "a..b", `a"b`, "a\x00", "A", "é", "a'; --", "$1"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		quoted, err := sqlfile.Quote(name)
		if err != nil {
			return
		}
		if strings.ReplaceAll(quoted, `"`, "") != name || strings.Count(quoted, `"`) != 2*(strings.Count(name, ".")+1) {
			t.Fatalf("%q is quoted as %s", name, quoted)
		}
		if i := strings.IndexFunc(name, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_.", r)
		}); i >= 0 || len(name) > 64*(strings.Count(name, ".")+1) {
			t.Fatalf("%q was taken for a name", name)
		}
	})
}

// FuzzLoad: a statement is the file's text with the schema in place of hookonce, wherever it is a schema, and nothing else
// is changed.
func FuzzLoad(f *testing.F) {
	f.Add("SELECT FROM hookonce.claim WHERE x = 'the hookonce schema'", "order")
	f.Add("hookonce.hookonce.xhookonce.$1", "a")
	f.Add("$0 ${1} hookonce.", "_")
	f.Fuzz(func(t *testing.T, text, schema string) {
		got, err := sqlfile.Load(fstest.MapFS{"sql/one.sql": {Data: []byte(text)}}, "sql/*.sql", schema)
		if err != nil {
			return
		}
		if back := strings.ReplaceAll(got["one"], `"`+schema+`".`, "hookonce."); !strings.Contains(text, `"`+schema+`".`) && back != text {
			t.Fatalf("%q became %q", text, got["one"])
		}
	})
}
