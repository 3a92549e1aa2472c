// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver/database"
)

var settings = database.Settings{ConnectTimeout: 3 * time.Second, Application: "hookonce", MaxConns: 5}

func TestNoPartOfAPasswordIsInAnError(t *testing.T) {
	for _, uri := range []string{
		"postgres://shop:p%zzA@Secret@db:5432/shop",
		"host=db password=a b Secret",
		"host=db user=shop password='Secret",
		"host=db password=a Secret@1=2",
		"postgres://shop:p@Secret@db:5432/shop",
		"postgres://shop:p/Secret@db:5432/shop",
		"postgres://shop:12/Secret@db:5432/shop",
		"postgres://shop:Secret@db:port/shop",
		"postgres://shop:Secret@db/shop?sslmode=Secret",
		"postgres://shop:Secret@db/shop?pool_max_conns=Secret",
		"postgres://shop:Secret@db/shop?default_query_exec_mode=Secret",
		"postgres://shop:Secret@db/shop?sslmode=verify-full&sslrootcert=/Secret",
		"Secret",
		"postgres://shop:Secret@db:5432/shop\x00",
	} {
		config, err := database.Parse(uri, settings)
		if err == nil {
			t.Errorf("%s was read as %s", uri, database.Address(config))
			continue
		}
		if !errors.Is(err, database.ErrURI) && !errors.Is(err, database.ErrURIFile) || strings.Contains(err.Error(), "Secret") {
			t.Errorf("%s: got %v", uri, err)
		}
	}
}

func TestConnectionsAreSetUp(t *testing.T) {
	const uri = "postgres://shop:p%40ss@db.shop:5433/orders?pool_max_conns=3"
	config, err := database.Parse(uri, settings)
	if err != nil {
		t.Fatal(err)
	}
	if got := database.Address(config); got != "db.shop:5433/orders" || config.Password != "p@ss" {
		t.Errorf("got %s", got)
	}
	if config.DefaultQueryExecMode != pgx.QueryExecModeCacheDescribe || config.ConnectTimeout != 3*time.Second ||
		config.ValidateConnect == nil || config.RuntimeParams["application_name"] != "hookonce" {
		t.Errorf("got %+v", config)
	}
	if config.StatementCacheCapacity != 0 || config.DescriptionCacheCapacity == 0 {
		t.Errorf("%d statements and %d descriptions are kept, want none and some", config.StatementCacheCapacity,
			config.DescriptionCacheCapacity)
	}
	prepared, err := database.Parse("postgres://db/orders?default_query_exec_mode=cache_statement", settings)
	if err != nil || prepared.StatementCacheCapacity == 0 {
		t.Errorf("got %+v, %v: who asks for prepared statements has a cache of them", prepared, err)
	}
	// What is for the pool is not for the server.
	if _, sent := config.RuntimeParams["pool_max_conns"]; sent {
		t.Error("pool_max_conns is sent to the server")
	}
	for uri, want := range map[string]int32{uri: 3, "postgres://db/orders": 5, "postgres://a@db?application_name=a/b@c": 5} {
		pool, err := database.ParsePool(uri, settings)
		if err != nil || pool.MaxConns != want {
			t.Errorf("%s: %d connections, %v, want %d", uri, pool.MaxConns, err, want)
		}
	}
	own, err := database.Parse("postgres://db/orders?connect_timeout=7&application_name=mine&default_query_exec_mode=exec", settings)
	if err != nil || own.ConnectTimeout != 7*time.Second || own.RuntimeParams["application_name"] != "mine" ||
		own.DefaultQueryExecMode != pgx.QueryExecModeExec {
		t.Errorf("what the URI says is not kept: %v", err)
	}
	if _, err := database.Parse("postgres://db/orders?default_query_exec_mode=simple_protocol", settings); !errors.Is(err, database.ErrSimpleProtocol) {
		t.Errorf("the simple protocol: %v", err)
	}
}
