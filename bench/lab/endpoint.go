// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/database"
	"github.com/hookonce/hookonce/receiver/ledger"
)

const (
	// Secret signs all deliveries.
	Secret = "a-signing-secret-of-the-benchmark"
	// Path of all endpoints.
	Path = "/webhooks/payments"
	// Endpoint is the name of all endpoints.
	Endpoint = "shop/payments"
	// Destination is the name of the destination of all endpoints.
	Destination = "fulfilment"
	// Effect is the function that an endpoint with an effect calls.
	Effect = "shop.on_invoice_paid"
)

// effectSchema is an effect as small as they are: one row.
const effectSchema = `
CREATE SCHEMA shop;
CREATE TABLE shop.orders (event_id text NOT NULL, resource_id text NOT NULL, booked_at timestamptz NOT NULL DEFAULT now());
CREATE FUNCTION shop.on_invoice_paid(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO shop.orders (event_id, resource_id) VALUES (e.event_id, e.resource_id);
  RETURN jsonb_build_object('booked', e.resource_id);
END
$$;
`

// folders are those of a receiver's endpoint.
type folders struct{ config, keyring string }

// makeFolders writes the documents that the operator would.
func (l *Lab) makeFolders(name string, withEffect bool) (folders, error) {
	preset, found := scheme.Preset(scheme.Paymos)
	if !found {
		return folders{}, errors.New("there is no scheme Paymos")
	}
	day := receiverconfig.Duration(24 * time.Hour)
	config := &receiverconfig.Config{
		Endpoint: Endpoint, Path: Path, Scheme: preset, Tolerance: receiverconfig.Duration(5 * time.Minute),
		MaxBodyBytes: 1 << 20, Schema: database.DefaultSchema,
		Destinations: []receiverconfig.Destination{{
			Name: Destination, URL: "http://" + l.sink.Addr().String(), EventTypes: []string{"*"},
			// Longer than any run: the relay stays as idle as it is.
			Timeout: receiverconfig.Duration(time.Hour), Delays: []receiverconfig.Duration{day},
		}},
		Retention: receiverconfig.Retention{Claims: 30 * day, Payloads: 7 * day},
	}
	if withEffect {
		config.Effects = []receiverconfig.Effect{{
			Name: "book", EventTypes: []string{"invoice.paid"}, Function: Effect, Key: receiverconfig.KeyEvent,
		}}
	}
	document, err := config.Encode()
	if err != nil {
		return folders{}, fmt.Errorf("write the configuration: %w", err)
	}
	secret := keyring.Candidate{
		Key: []byte(Secret), Secret: []byte(Secret), Source: keyring.Source{Name: "paymos", Key: "secret"},
	}
	ring, err := keyring.Adopt(rand.Reader, secret, time.Now())
	if err != nil {
		return folders{}, fmt.Errorf("make the keyring: %w", err)
	}
	secrets, err := ring.Encode()
	if err != nil {
		return folders{}, fmt.Errorf("write the keyring: %w", err)
	}
	f := folders{config: filepath.Join(l.Dir, name, "config"), keyring: filepath.Join(l.Dir, name, "keyring")}
	return f, errors.Join(
		writeFile(f.config, receiverconfig.FileName, document), writeFile(f.keyring, keyring.FileName, secrets),
	)
}

func writeFile(dir, name string, text []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		return fmt.Errorf("write a file: %w", err)
	}
	return nil
}

// migrateLedger makes the ledger's tables, the endpoint's scope and the effect.
func (l *Lab) migrateLedger(ctx context.Context, url string) error {
	if err := ledger.Migrate(ctx, url, database.DefaultSchema); err != nil {
		return err
	}
	return withConnection(ctx, url, func(conn *pgx.Conn) error {
		if err := conn.PgConn().Exec(ctx, effectSchema).Close(); err != nil {
			return fmt.Errorf("make the effect: %w", err)
		}
		_, err := conn.Exec(ctx, "INSERT INTO hookonce.scope (name) VALUES ($1)", database.EndpointPrefix+Endpoint)
		if err != nil {
			return fmt.Errorf("make the scope: %w", err)
		}
		return nil
	})
}

func withConnection(ctx context.Context, url string, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return do(conn)
}
