// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookonce/hookonce/test/postgres"
)

const (
	// databasePort is the port of Postgres on this machine.
	databasePort = 15432
	databaseName = "shop"
	// The roles of docs/roles.md: whom the ledger belongs to, and whom receivers and prunes log in as. The shop's tables
	// belong to postgres.AppRole.
	ledgerOwner, receiverRole = "hookonce_owner", "shop_hookonce"
)

func (w *World) databaseFolder() string { return filepath.Join(w.State, "postgres") }

// StartDatabase starts Postgres in the background, where it outlives the story, on the data that it had before.
func (w *World) StartDatabase(context.Context) error {
	server, err := postgres.Attach(w.databaseFolder())
	if err != nil {
		listen := []string{"127.0.0.1"}
		if !slices.Contains(listen, w.cluster.host) {
			listen = append(listen, w.cluster.host)
		}
		server, err = postgres.Start(postgres.Options{
			Dir: w.databaseFolder(), Port: databasePort, Listen: listen, Detach: true, Roles: []string{ledgerOwner, receiverRole},
			// As an ordinary role, with a password; and only this machine and its pods reach the address.
			AllowFrom: []string{"0.0.0.0/0"},
		})
	}
	if err != nil {
		return err
	}
	w.database = server
	return nil
}

// StopDatabase ends Postgres as a crash would and keeps its data.
func (w *World) StopDatabase(context.Context) error {
	return w.database.StopImmediate()
}

// reset removes the shop of an earlier telling, in the cluster and in Postgres, and makes an empty database: the story
// counts what it finds.
func (w *World) reset(ctx context.Context) error {
	if err := w.deleteShop(ctx); err != nil {
		return err
	}
	if err := w.database.DropDatabase(ctx, databaseName); err != nil {
		return err
	}
	if err := w.database.CreateDatabase(ctx, databaseName); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, w.database.AdminURL(databaseName))
	if err != nil {
		return fmt.Errorf("connect to the shop's database: %w", err)
	}
	w.DB = pool
	return w.makeLedger(ctx)
}

// deleteShop removes the shop's namespace and waits until it is gone. Pods are ended first and at once: a namespace waits
// for the whole grace period of each pod, and there is nothing left to drain.
func (w *World) deleteShop(ctx context.Context) error {
	if _, err := w.Kubectl(ctx, "delete", "namespace", Namespace, "--ignore-not-found", "--wait=false"); err != nil {
		return err
	}
	if _, err := w.Kubectl(ctx, "delete", "pods", "--all", "-n", Namespace, "--force", "--grace-period=0"); err != nil {
		return err
	}
	_, err := w.Kubectl(ctx, "wait", "namespace/"+Namespace, "--for=delete", "--timeout=180s")
	return err
}

// databaseURL is the URI of the shop's database on this machine, for receivers.
func (w *World) databaseURL() string { return w.database.RoleURL(receiverRole, databaseName) }

// databaseURLFromPods is the URI of the shop's database as pods reach it.
func (w *World) databaseURLFromPods() (string, error) {
	uri, err := url.Parse(w.databaseURL())
	if err != nil {
		return "", fmt.Errorf("read the database's URI: %w", err)
	}
	uri.Host = fmt.Sprintf("%s:%d", w.fromPods("shop-db"), databasePort)
	uri.RawQuery = "sslmode=disable"
	return uri.String(), nil
}
