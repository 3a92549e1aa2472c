// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// The roles of every server: the superuser that initdb makes, and an ordinary one, as applications have, which owns the
// databases that CreateDatabase makes.
const (
	AdminRole = "postgres"
	AppRole   = "app"
	password  = "hookonce-test"
)

const startTimeout = 60 * time.Second

// Options says how to run a server; the zero value is a private one on 127.0.0.1, gone when this process ends.
type Options struct {
	// Dir holds the data directory, the log and the socket; made if it is missing, and kept when the server stops. If it
	// holds a data directory already, the server is started on that. Default: a temporary folder, removed by Stop.
	Dir string
	// Listen are the addresses to listen on. Default 127.0.0.1.
	Listen []string
	// Roles are made besides the ordinary one: they can log in as it can, and own nothing.
	Roles []string
	// AllowFrom are networks in CIDR form from which these roles may log in with the password; everybody may from loopback.
	AllowFrom []string
	// Port to listen on. Default: a free one.
	Port int
	// Settings are added to the command line, such as max_connections=200.
	Settings map[string]string
	// Detach lets the server outlive this process; without it the kernel ends the server with the process.
	Detach bool
}

// Server is a running Postgres.
type Server struct {
	Dir  string
	Host string
	Port int

	pid       int
	temporary bool
	// exited is closed when the child has been waited for; nil if this process did not start it.
	exited chan struct{}
}

// Start makes a data directory if there is none, starts a server on it, and returns when it answers.
func Start(options Options) (*Server, error) {
	bin, err := binaries(os.Getenv(EnvServer))
	if err != nil {
		return nil, err
	}
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: options.Dir, Host: "127.0.0.1", temporary: options.Dir == ""}
	if s.temporary {
		removeStale()
		s.Dir, err = os.MkdirTemp("", fmt.Sprintf("%s%d-", tempPrefix, os.Getpid()))
	} else {
		err = os.MkdirAll(s.Dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("make the server's folder: %w", err)
	}
	if err := s.initialize(bin, owner, options); err != nil {
		return nil, errors.Join(err, s.removeTemporary())
	}
	if err := s.launch(bin, owner, options); err != nil {
		return nil, errors.Join(err, s.removeTemporary())
	}
	return s, nil
}

// Attach returns the server that runs on a folder given to Start before, by this process or another.
func Attach(dir string) (*Server, error) {
	text, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return nil, fmt.Errorf("no server runs on %s: %w", dir, err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 4 {
		return nil, fmt.Errorf("no server runs on %s: postmaster.pid is incomplete", dir)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return nil, fmt.Errorf("read the pid of the server on %s: %w", dir, err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(lines[3]))
	if err != nil {
		return nil, fmt.Errorf("read the port of the server on %s: %w", dir, err)
	}
	if !alive(pid) {
		return nil, fmt.Errorf("no server runs on %s: process %d is gone", dir, pid)
	}
	return &Server{Dir: dir, Host: "127.0.0.1", Port: port, pid: pid}, nil
}

// Pid is the process id of the postmaster.
func (s *Server) Pid() int { return s.pid }

// Log is the path of the server's log.
func (s *Server) Log() string { return filepath.Join(s.Dir, "log") }

// URL is the connection URI of a database for the ordinary role.
func (s *Server) URL(database string) string { return s.RoleURL(AppRole, database) }

// AdminURL is the connection URI of a database for the superuser.
func (s *Server) AdminURL(database string) string { return s.RoleURL(AdminRole, database) }

// RoleURL is the connection URI of a database for a role of the server, or one that CreateRole made.
func (s *Server) RoleURL(role, database string) string {
	return connectionURL(role, database, s.Host, s.Port)
}

func connectionURL(role, database, host string, port int) string {
	u := url.URL{
		Scheme: "postgres",
		User:   url.UserPassword(role, password),
		Host:   net.JoinHostPort(host, strconv.Itoa(port)),
		Path:   "/" + database,
	}
	return u.String()
}

// CreateRole makes a role that can log in and has no rights, with the password of all roles here.
func (s *Server) CreateRole(ctx context.Context, name string) error {
	return s.admin(ctx, createRole(name))
}

// DropRole removes a role that owns nothing, and that no database of the server gives any rights.
func (s *Server) DropRole(ctx context.Context, name string) error {
	return s.admin(ctx, "DROP ROLE IF EXISTS "+pgx.Identifier{name}.Sanitize())
}

// CreateDatabase makes a database that the ordinary role owns.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	return s.admin(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" OWNER "+AppRole)
}

// DropDatabase removes a database and ends the connections to it.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.admin(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
}

func (s *Server) admin(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.AdminURL("postgres"))
	if err != nil {
		return fmt.Errorf("connect as superuser: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// Stop ends the server in order: sessions are ended, what was committed is written. A temporary folder is removed.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

// StopImmediate ends the server as a crash would: the next start recovers from the write-ahead log.
func (s *Server) StopImmediate() error { return s.end(syscall.SIGQUIT) }

func (s *Server) end(signal syscall.Signal) error {
	if err := syscall.Kill(s.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal the server: %w", err)
	}
	if err := s.waitExit(); err != nil {
		return err
	}
	return s.removeTemporary()
}

func (s *Server) waitExit() error {
	deadline := time.NewTimer(startTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.exited:
			return nil
		case <-deadline.C:
			return fmt.Errorf("the server (pid %d) did not stop within %s; see %s", s.pid, startTimeout, s.Log())
		case <-tick.C:
			if s.exited == nil && !alive(s.pid) {
				return nil
			}
		}
	}
}

func (s *Server) removeTemporary() error {
	if !s.temporary {
		return nil
	}
	if err := os.RemoveAll(s.Dir); err != nil {
		return fmt.Errorf("remove the server's folder: %w", err)
	}
	return nil
}

// launch starts the postmaster. A free port may be taken by another process before Postgres binds it, so that is tried
// more than once.
func (s *Server) launch(bin string, owner *syscall.Credential, options Options) error {
	tries := 1
	if options.Port == 0 {
		tries = 5
	}
	var err error
	for range tries {
		s.Port = options.Port
		if s.Port == 0 {
			if s.Port, err = freePort(); err != nil {
				return err
			}
		}
		if err = s.launchOnce(bin, owner, options); err == nil {
			return nil
		}
	}
	return err
}

func (s *Server) launchOnce(bin string, owner *syscall.Credential, options Options) error {
	listen := options.Listen
	if len(listen) == 0 {
		listen = []string{"127.0.0.1"}
	}
	args := []string{
		"-D", filepath.Join(s.Dir, "data"), "-p", strconv.Itoa(s.Port), "-k", s.Dir,
		"-c", "listen_addresses=" + strings.Join(listen, ","), "-c", "timezone=UTC", "-c", "log_min_messages=warning",
	}
	for name, value := range options.Settings {
		args = append(args, "-c", name+"="+value)
	}
	log, err := os.OpenFile(s.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(bin, "postgres"), args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, s.Dir
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner, Setsid: true}
	if !options.Detach {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	}
	if s.pid, s.exited, err = spawn(cmd); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	return s.waitReady(append([]string{AppRole}, options.Roles...))
}

func (s *Server) waitReady(roles []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.AdminURL("postgres"))
		if err == nil {
			defer conn.Close(ctx)
			return createRoles(ctx, conn, roles)
		}
		select {
		case <-s.exited:
			return fmt.Errorf("postgres ended at once; its log: %s", tail(s.Log()))
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("postgres did not answer within %s: %w", startTimeout, err), s.end(syscall.SIGQUIT))
		case <-tick.C:
		}
	}
}

// createRoles makes those that are not there yet.
func createRoles(ctx context.Context, conn *pgx.Conn, roles []string) error {
	for _, role := range roles {
		var exists bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role).Scan(&exists); err != nil {
			return fmt.Errorf("look for the role %s: %w", role, err)
		}
		if exists {
			continue
		}
		if _, err := conn.Exec(ctx, createRole(role)); err != nil {
			return fmt.Errorf("make the role %s: %w", role, err)
		}
	}
	return nil
}

func createRole(name string) string {
	return "CREATE ROLE " + pgx.Identifier{name}.Sanitize() + " LOGIN PASSWORD '" + password + "'"
}
