// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// PgBouncerOptions says how to run a PgBouncer.
type PgBouncerOptions struct {
	// Server is what it leads to. Required.
	Server *Server
	// PoolSize is how many connections to the server it keeps for each pair of role and database. Default 2, so that
	// clients share them.
	PoolSize int
	// Roles that may log in, besides those that every server has.
	Roles []string
	// Settings of the section pgbouncer, such as server_reset_query; they override what is set here.
	Settings map[string]string
}

// PgBouncer is a running PgBouncer in transaction mode, with its other settings as it comes.
type PgBouncer struct {
	Host string
	Port int

	dir    string
	pid    int
	exited chan struct{}
}

// StartPgBouncer starts one on a free port, and returns when it answers. It ends with this process.
func StartPgBouncer(options PgBouncerOptions) (*PgBouncer, error) {
	path := "/usr/sbin/pgbouncer"
	if _, err := os.Stat(path); err != nil {
		if path, err = exec.LookPath("pgbouncer"); err != nil {
			return nil, fmt.Errorf("find pgbouncer: run hack/install-postgres.sh: %w", err)
		}
	}
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	// The name keeps removeStale from taking it for a server's folder.
	dir, err := os.MkdirTemp("", "hookonce-pgbouncer-")
	if err != nil {
		return nil, fmt.Errorf("make the folder of pgbouncer: %w", err)
	}
	b := &PgBouncer{Host: "127.0.0.1", dir: dir}
	if owner != nil {
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	// A free port may be taken by another process before it is bound.
	for range 5 {
		if err = b.launch(path, owner, options); err == nil {
			return b, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

func (b *PgBouncer) launch(path string, owner *syscall.Credential, options PgBouncerOptions) error {
	var err error
	if b.Port, err = freePort(); err != nil {
		return err
	}
	if err := b.configure(owner, options); err != nil {
		return err
	}
	cmd := exec.Command(path, "-q", filepath.Join(b.dir, "pgbouncer.ini"))
	cmd.Dir = b.dir
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner, Setsid: true, Pdeathsig: syscall.SIGTERM}
	if b.pid, b.exited, err = spawn(cmd); err != nil {
		return fmt.Errorf("start pgbouncer: %w", err)
	}
	return b.waitReady()
}

func (b *PgBouncer) configure(owner *syscall.Credential, options PgBouncerOptions) error {
	var users strings.Builder
	for _, role := range append([]string{AdminRole, AppRole}, options.Roles...) {
		fmt.Fprintf(&users, "%q %q\n", role, password)
	}
	settings := map[string]string{
		"listen_addr": b.Host, "listen_port": strconv.Itoa(b.Port), "unix_socket_dir": "",
		"auth_type": "scram-sha-256", "auth_file": filepath.Join(b.dir, "users"), "admin_users": AdminRole,
		"logfile": b.log(), "pool_mode": "transaction", "max_client_conn": "500",
		"default_pool_size": strconv.Itoa(cmp.Or(options.PoolSize, 2)),
	}
	maps.Copy(settings, options.Settings)
	var config strings.Builder
	fmt.Fprintf(&config, "[databases]\n* = host=%s port=%d\n\n[pgbouncer]\n", options.Server.Host, options.Server.Port)
	for name, value := range settings {
		fmt.Fprintf(&config, "%s = %s\n", name, value)
	}
	if err := writeFile(filepath.Join(b.dir, "users"), users.String(), owner); err != nil {
		return err
	}
	return writeFile(filepath.Join(b.dir, "pgbouncer.ini"), config.String(), owner)
}

func (b *PgBouncer) log() string { return filepath.Join(b.dir, "log") }

func (b *PgBouncer) waitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, b.RoleURL(AdminRole, "postgres")+"?default_query_exec_mode=exec")
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-b.exited:
			return fmt.Errorf("pgbouncer ended at once; its log: %s", tail(b.log()))
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("pgbouncer did not answer within %s: %w; its log: %s", startTimeout, err, tail(b.log())),
				b.Stop())
		case <-tick.C:
		}
	}
}

// RoleURL is the connection URI of a database, through the pooler, for a role.
func (b *PgBouncer) RoleURL(role, database string) string {
	return connectionURL(role, database, b.Host, b.Port)
}

// Through is a connection URI of the server's, led through the pooler.
func (b *PgBouncer) Through(uri string) (string, error) {
	config, err := pgx.ParseConfig(uri)
	if err != nil {
		return "", fmt.Errorf("read the URI: %w", err)
	}
	return b.RoleURL(config.User, config.Database), nil
}

// Stop ends it at once, and its clients' connections with it.
func (b *PgBouncer) Stop() error {
	if err := syscall.Kill(b.pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal pgbouncer: %w", err)
	}
	select {
	case <-b.exited:
	case <-time.After(startTimeout):
		return fmt.Errorf("pgbouncer (pid %d) did not stop within %s", b.pid, startTimeout)
	}
	if err := os.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("remove the folder of pgbouncer: %w", err)
	}
	return nil
}
