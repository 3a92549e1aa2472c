// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command minimal is the least program that receives webhooks with net/http and pgx: one route, and one INSERT for each
// request through a pool with its defaults. It verifies nothing, relays nothing and has no metrics. What it occupies while
// idle, when it has answered one request, is the measure of what the receiver occupies after the same.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// maxBodyBytes is the largest body that is read: 1 MiB.
const maxBodyBytes = 1 << 20

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS event (received_at timestamptz DEFAULT now(), body bytea)"); err != nil {
		return fmt.Errorf("make the table: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	err = json.NewEncoder(os.Stderr).Encode(map[string]string{"msg": "Serving", "public": listener.Addr().String()})
	if err != nil {
		return fmt.Errorf("announce the address: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhooks/payments", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		if err != nil {
			http.Error(w, "unreadable", http.StatusBadRequest)
			return
		}
		if _, err := pool.Exec(r.Context(), "INSERT INTO event (body) VALUES ($1)", body); err != nil {
			http.Error(w, "unavailable", http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: mux}
	return server.Serve(listener)
}
