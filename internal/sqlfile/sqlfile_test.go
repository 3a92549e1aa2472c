// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlfile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hookonce/hookonce/internal/sqlfile"
)

func TestLoadPutsTheQuotedSchemaInPlace(t *testing.T) {
	files := fstest.MapFS{"sql/one.sql": {Data: []byte("SELECT FROM hookonce.claim WHERE x = 'the hookonce schema'")}}
	got, err := sqlfile.Load(files, "sql/*.sql", "order")
	if err != nil {
		t.Fatal(err)
	}
	if want := `SELECT FROM "order".claim WHERE x = 'the hookonce schema'`; got["one"] != want {
		t.Errorf("got %s, want %s", got["one"], want)
	}
}

func TestTheSchemaIsReplacedWhereItIsAWholeName(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"hookonce.a":                       `"s".a`,
		"(hookonce.a,hookonce.b)":          `("s".a,"s".b)`,
		"hookonce.hookonce.a":              `"s"."s".a`,
		"hookonce":                         "hookonce",
		"xhookonce.a Xhookonce.a":          "xhookonce.a Xhookonce.a",
		"_hookonce.a 9hookonce.a":          "_hookonce.a 9hookonce.a",
		"xhookonce.hookonce.a":             `xhookonce."s".a`,
		"Hookonce.a hookonce .a hookonce,": "Hookonce.a hookonce .a hookonce,",
		`"hookonce.a" $1::hookonce.t`:      `""s".a" $1::"s".t`,
		"é hookonce.a éhookonce.a":         `é "s".a é"s".a`,
		"SELECT\n\thookonce.a\n":           "SELECT\n\t\"s\".a\n",
	} {
		got, err := sqlfile.Load(fstest.MapFS{"sql/one.sql": {Data: []byte(text)}}, "sql/*.sql", "s")
		if err != nil || got["one"] != want {
			t.Errorf("%q became %q, %v; want %q", text, got["one"], err, want)
		}
	}
}

func TestNamesThatCouldBreakOutOfTheirQuotesAreRefused(t *testing.T) {
	for _, name := range []string{
		"", "a.b", `a"b`, "a'b", "A", "a b", "1a", "a;drop schema b", "a\x00", "$1",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	} {
		_, err := sqlfile.Load(fstest.MapFS{}, "sql/*.sql", name)
		if _, invalid := errors.AsType[*sqlfile.InvalidNameError](err); !invalid {
			t.Errorf("schema %q: got %v, want an InvalidNameError", name, err)
		}
	}
	longest := "_" + strings.Repeat("9", 62)
	if got, err := sqlfile.Quote(longest); err != nil || got != `"`+longest+`"` {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := sqlfile.Quote("shop.on_invoice_paid"); err != nil || got != `"shop"."on_invoice_paid"` {
		t.Errorf("got %s, %v", got, err)
	}
}
