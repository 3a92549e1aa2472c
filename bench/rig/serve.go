// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rig has the servers that Hookonce is measured against. Each runs as a process of its own, on loopback, and uses
// the server of net/http as it is.
package rig

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Options of every rig.
type Options struct {
	// Secret that signatures are made with.
	Secret string
	// Database is its connection URI.
	Database string
	// Connections to it at most.
	Connections int
	// Folders with the configuration and the keyring, for the rig that is Hookonce itself.
	ConfigDir, KeyringDir string
	// Profile is the prefix of the files to write profiles to; empty: none.
	Profile string
}

// rigs by their names.
var rigs = map[string]func(context.Context, Options) (http.Handler, func() error, error){
	"empty":       empty,
	"handwritten": handwritten,
	"river":       riverJobs,
	"embedded":    embedded,
}

// Main runs the rig that is named by the first argument until it is told to end.
func Main(args []string) error {
	if len(args) == 0 || rigs[args[0]] == nil {
		return errors.New("name a rig: empty, handwritten, river or embedded")
	}
	var o Options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.Secret, "secret", "", "signing secret")
	flags.StringVar(&o.Database, "database-url", "", "connection URI")
	flags.IntVar(&o.Connections, "connections", 16, "connections to the database at most")
	flags.StringVar(&o.ConfigDir, "config-dir", "", "folder with config.json")
	flags.StringVar(&o.KeyringDir, "keyring-dir", "", "folder with keyring.json")
	flags.StringVar(&o.Profile, "profile", "", "prefix of the files to write profiles to")
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	handler, finish, err := rigs[args[0]](ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(serve(ctx, handler), finish())
}

func serve(ctx context.Context, handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := Announce(listener.Addr()); err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// Announce tells the process that started this one where it serves, in the way of the receiver's log.
func Announce(address net.Addr) error {
	err := json.NewEncoder(os.Stderr).Encode(map[string]string{"msg": "Serving", "public": address.String()})
	if err != nil {
		return fmt.Errorf("announce the address: %w", err)
	}
	return nil
}

func nothing() error { return nil }
