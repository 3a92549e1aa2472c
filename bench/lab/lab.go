// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lab has what a benchmark needs: the programs, built as they are released, a Postgres that keeps what it
// acknowledges, a database for each rig, and a destination that never answers.
package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/bench/measure"
	"github.com/hookonce/hookonce/test/postgres"
)

// settings of the server, the same for all rigs: those that a production server of this size has, and no checkpoint in
// the middle of a run.
var settings = map[string]string{
	"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min", "max_connections": "200",
}

// Lab is where runs take place.
type Lab struct {
	// Root of the repository, and Dir for what a run needs.
	Root, Dir string
	// Receiver, Minimal and Self are the programs.
	Receiver, Minimal, Self string
	Postgres                *postgres.Server
	// Environment is given to receivers, for trials.
	Environment []string

	sink net.Listener
	runs uint32
}

// Open builds the programs and starts the server. Progress is told to log.
func Open(ctx context.Context, root string, log io.Writer) (*Lab, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "hookonce-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	l := &Lab{
		Root: root, Dir: dir, Self: self, Receiver: filepath.Join(dir, "receiver"), Minimal: filepath.Join(dir, "minimal"),
		runs: uint32(os.Getpid()),
	}
	if err := l.prepare(ctx, log); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Lab) prepare(ctx context.Context, log io.Writer) error {
	fmt.Fprintln(log, "building the programs")
	if err := l.build(ctx, l.Root, "./cmd/receiver", l.Receiver); err != nil {
		return err
	}
	if err := l.build(ctx, filepath.Join(l.Root, "bench"), "./minimal", l.Minimal); err != nil {
		return err
	}
	fmt.Fprintln(log, "starting Postgres")
	var err error
	if l.Postgres, err = postgres.Start(postgres.Options{Settings: settings}); err != nil {
		return fmt.Errorf("start Postgres: %w", err)
	}
	if l.sink, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	go l.swallow()
	return l.assertDurable(ctx, l.Postgres.AdminURL("postgres"))
}

// build builds a program as the Makefile does.
func (l *Lab) build(ctx context.Context, module, target, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, target)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", target, err, output)
	}
	return nil
}

// swallow accepts connections and never answers on them: a relay that posts there is as idle as a worker that is not
// running.
func (l *Lab) swallow() {
	var held []net.Conn
	for {
		conn, err := l.sink.Accept()
		if err != nil {
			break
		}
		held = append(held, conn)
	}
	for _, conn := range held {
		_ = conn.Close()
	}
}

// assertDurable fails if an acknowledged commit could be lost: then no number would be worth printing.
func (l *Lab) assertDurable(ctx context.Context, url string) error {
	onDisk, err := measure.OnDisk(l.Postgres.Dir)
	if err != nil {
		return err
	}
	if !onDisk {
		return fmt.Errorf("%s is in memory; set TMPDIR to a folder on a disk", l.Postgres.Dir)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := conn.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return fmt.Errorf("read %s: %w", setting, err)
		}
		if value != "on" {
			return fmt.Errorf("%s is %s: what is acknowledged could be lost", setting, value)
		}
	}
	return nil
}

// ServerVersion is the version of Postgres.
func (l *Lab) ServerVersion(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, l.Postgres.AdminURL("postgres"))
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var version string
	if err := conn.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", fmt.Errorf("read the server's version: %w", err)
	}
	version, _, _ = strings.Cut(version, " ")
	return version, nil
}

// NextRun is a number for the ids of a run that no other run of this process has.
func (l *Lab) NextRun() uint32 {
	l.runs++
	return l.runs & 0xffffff
}

// Close ends everything and removes the files.
func (l *Lab) Close() error {
	var errs []error
	if l.sink != nil {
		errs = append(errs, l.sink.Close())
	}
	if l.Postgres != nil {
		errs = append(errs, l.Postgres.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(l.Dir))...)
}
