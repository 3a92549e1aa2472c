// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
	"github.com/hookonce/hookonce/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

const (
	secret      = "whsec_c2VjcmV0LW9mLXRoZS1zaG9wLWZvci10ZXN0cw=="
	otherSecret = "whsec_YW5vdGhlci1zZWNyZXQtb2YtdGhlLXNob3AtaGVyZQ=="
)

// shopDatabase starts a server with the shop's own table in it.
func shopDatabase(ctx context.Context) (url string, stop func()) {
	server, err := postgres.Start(postgres.Options{})
	if err != nil {
		fmt.Println(err)
		return "", func() {}
	}
	stop = func() {
		if err := server.StopImmediate(); err != nil {
			fmt.Println(err)
		}
	}
	if err := server.CreateDatabase(ctx, "shop"); err != nil {
		fmt.Println(err)
		return "", stop
	}
	execute(ctx, server.URL("shop"), "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY, event text)")
	return server.URL("shop"), stop
}

func execute(ctx context.Context, url, sql string) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		fmt.Println(err)
	}
}

func countOrders(ctx context.Context, url string) int {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		fmt.Println(err)
		return 0
	}
	defer conn.Close(ctx)
	var n int
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM orders").Scan(&n); err != nil {
		fmt.Println(err)
	}
	return n
}

// deliver is the provider: it signs with the secret, posts, and returns the answer.
func deliver(url, id, body string) string { return deliverWith(url, id, body, secret) }

func deliverWith(url, id, body, secret string) string {
	s, _ := scheme.Preset(scheme.StandardWebhooks)
	key, err := s.Key.Decode([]byte(secret))
	if err != nil {
		return err.Error()
	}
	header, err := verify.Sign(s, [][]byte{key}, verify.Draft{EventID: id, Body: []byte(body)}, time.Now())
	if err != nil {
		return err.Error()
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, text)
}
