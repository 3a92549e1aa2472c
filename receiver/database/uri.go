// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"errors"
	"io/fs"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// What may be wrong with a connection URI. None quotes it: where a URI cannot be read, nobody knows which part of it is the
// password, and pgx's own errors quote it with what they take for the password left out.
var (
	ErrURI = errors.New("the database's connection URI cannot be read: write " +
		"postgres://user:password@host:port/database, with every character of the password that is neither a letter nor a " +
		"digit as %XX")
	ErrURIFile = errors.New("a file that the database's connection URI names cannot be read: sslrootcert, sslcert, sslkey, " +
		"passfile or servicefile")
	ErrSimpleProtocol = errors.New("the database's connection URI has default_query_exec_mode=simple_protocol, which is " +
		"not supported, because it builds statements as text: use cache_describe or exec")
)

// keepAlive finds a server that went away without a word.
const keepAlive = 15 * time.Second

// Settings are what the URI may leave open.
type Settings struct {
	// ConnectTimeout of one address. Required.
	ConnectTimeout time.Duration
	// Application is how the server's views name the connections. Required.
	Application string
	// MaxConns of a pool; 0 means pgxpool's default.
	MaxConns int32
}

// Parse reads the URI of one connection and sets what we rely on. What it says of a pool is left out. Errors are ErrURI,
// ErrURIFile and ErrSimpleProtocol.
func Parse(uri string, s Settings) (*pgx.ConnConfig, error) {
	config, err := ParsePool(uri, s)
	if err != nil {
		return nil, err
	}
	return config.ConnConfig, nil
}

// ParsePool reads the URI for a pool of connections; otherwise it is as Parse.
func ParsePool(uri string, s Settings) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(uri)
	if err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, ErrURIFile
		}
		return nil, ErrURI
	}
	if misread(uri, config.ConnConfig) {
		return nil, ErrURI
	}
	if s.MaxConns > 0 && !strings.Contains(uri, "pool_max_conns") {
		config.MaxConns = s.MaxConns
	}
	return config, harden(config.ConnConfig, uri, s)
}

// parameter is what a run-time parameter of the server is called.
var parameter = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// misread says that a part of a password which was not encoded has been taken for a host, a database or a parameter. The
// errors of a connection, and the server, would quote it.
func misread(uri string, config *pgx.ConnConfig) bool {
	if _, rest, isURL := strings.Cut(uri, "://"); isURL {
		// A password that ends the authority early takes the @ that was to follow it along.
		if end := strings.IndexAny(rest, "/?#"); end >= 0 && strings.Contains(rest[end:], "@") {
			if user, _, found := strings.Cut(rest[:end], "@"); !found || strings.Contains(user, ":") {
				return true
			}
		}
		rest, _, _ = strings.Cut(rest, "?")
		if _, name, _ := strings.Cut(rest, "/"); strings.Contains(name, "@") {
			return true
		}
	}
	if strings.Contains(config.Host, "@") {
		return true
	}
	for _, fallback := range config.Fallbacks {
		if strings.Contains(fallback.Host, "@") {
			return true
		}
	}
	for name := range config.RuntimeParams {
		if !parameter.MatchString(name) {
			return true
		}
	}
	return false
}

// harden sets what we rely on and the URI leaves open.
func harden(config *pgx.ConnConfig, uri string, s Settings) error {
	if config.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		return ErrSimpleProtocol
	}
	if !strings.Contains(uri, "default_query_exec_mode") {
		// Named prepared statements do not survive a pooler in transaction mode; descriptions do.
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		// A cache of prepared statements that nobody uses takes 27 KiB of each connection.
		config.StatementCacheCapacity = 0
	}
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if config.ConnectTimeout == 0 || !strings.Contains(uri, "connect_timeout") {
		config.ConnectTimeout = s.ConnectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = s.Application
	}
	dialer := &net.Dialer{Timeout: config.ConnectTimeout, KeepAlive: keepAlive}
	config.DialFunc = dialer.DialContext
	return nil
}

// Address says where a connection leads, without the user and the password: host:port/database. Of several hosts it is
// the first.
func Address(config *pgx.ConnConfig) string {
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))) + "/" + config.Database
}
