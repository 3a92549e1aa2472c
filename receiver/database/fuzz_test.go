// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver/database"
)

// FuzzParse reads anything as a URI. What can be read is set up as everything relies on; what cannot is said in words that
// are known in advance, and so quote nothing.
func FuzzParse(f *testing.F) {
	for _, uri := range []string{
		"", "Secret", "postgres://", "postgres://shop:p%40ss@db.shop:5433/orders?pool_max_conns=3",
		"postgresql://db1:1,db2:2/orders?target_session_attrs=any&sslmode=require", "host=db user=shop password='a b'",
		"postgres://a@db?application_name=a/b@c", "postgres://db?default_query_exec_mode=simple_protocol", "postgres://[::1]:5432/x",
		"postgres://db/shop?sslmode=verify-full&sslrootcert=/nowhere", "host=/run/postgresql dbname=shop connect_timeout=7",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		config, err := database.Parse(uri, settings)
		if err != nil {
			if !isOneOf(err, database.ErrURI, database.ErrURIFile, database.ErrSimpleProtocol) {
				t.Fatalf("an error of its own: %v", err)
			}
			return
		}
		if config.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol || config.ConnectTimeout <= 0 ||
			config.ValidateConnect == nil && !strings.Contains(uri, "target_session_attrs") ||
			config.RuntimeParams["application_name"] == "" {
			t.Fatalf("not set up: %+v", config)
		}
	})
}

// FuzzPassword writes a password into a URI as it is, without encoding it, as people do. No part of it is in an error or
// in an address: both are logged, and are in the status.
func FuzzPassword(f *testing.F) {
	for _, around := range [][2]string{
		{"", ""},
		{"a@", ""},
		{"a/", ""},
		{"12/", ""},
		{"%zz", ""},
		{"#", ""},
		{"1?", ""},
		{"1/", "?"},
		{"1/", "?a=b"},
		{"a?b=", "&c"},
		{"1,2/", "#"},
		{":", ":"},
		{"[", "]"},
		{" ", "\x00"},
		{"1@", "?a="},
		{"1@", "#"},
	} {
		f.Add(around[0], around[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const marker = "Secret0451"
		password := before + marker + after
		for _, format := range []string{
			"postgres://shop:%s@db:5432/shop", "postgres://shop:%s@db/shop?sslmode=disable", "postgres://:%s@db",
		} {
			config, err := database.Parse(fmt.Sprintf(format, password), settings)
			if err != nil {
				if !isOneOf(err, database.ErrURI, database.ErrURIFile, database.ErrSimpleProtocol) {
					t.Fatalf("an error of its own: %v", err)
				}
				continue
			}
			said := []string{database.Address(config), config.Host, config.Database}
			for _, fallback := range config.Fallbacks {
				said = append(said, fallback.Host)
			}
			for name := range config.RuntimeParams {
				said = append(said, name)
			}
			if text := strings.Join(said, " "); strings.Contains(text, marker) {
				t.Fatalf("%s is read so that this is said: %s", fmt.Sprintf(format, password), text)
			}
		}
	})
}

func isOneOf(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return err.Error() == target.Error()
		}
	}
	return false
}
