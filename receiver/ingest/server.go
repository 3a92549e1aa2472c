// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of the server on the public port. A request that keeps to them has been read, recorded and answered within
// WriteTimeout.
const (
	ReadHeaderTimeout = 5 * time.Second
	ReadTimeout       = 15 * time.Second
	WriteTimeout      = 30 * time.Second
	// IdleTimeout is longer than the 60 s that proxies keep a connection for by default, so that they close it first.
	IdleTimeout    = 75 * time.Second
	MaxHeaderBytes = 16 << 10
)

// NewServer returns a server for the public port. It speaks HTTP/1.1 only; HTTP/2 ends at the proxy before it.
func NewServer(addr string, handler http.Handler, log *slog.Logger) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: ReadHeaderTimeout,
		ReadTimeout:       ReadTimeout,
		WriteTimeout:      WriteTimeout,
		IdleTimeout:       IdleTimeout,
		MaxHeaderBytes:    MaxHeaderBytes,
		Protocols:         &protocols,
		// Without this, the server itself would answer OPTIONS * with 200.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// Serve serves the listener until ctx ends and then drains: it goes on accepting for delay, while the cluster learns that
// this receiver is leaving, and then gives the requests under way the time that grace allows. It returns nil when all of
// them were answered.
//
// During the delay each answer closes its connection, so that proxies open the next one to another receiver. Idle ones are
// not closed before the end of it: a request that is on its way into a closed connection would be lost.
func Serve(ctx context.Context, server *http.Server, listener net.Listener, delay, grace time.Duration) error {
	server.Handler = closeAfter(ctx, server.Handler)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-timer.C:
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(shutdown); err != nil {
		return errors.Join(fmt.Errorf("drain %s: %w", listener.Addr(), err), server.Close())
	}
	return nil
}

// closeAfter has connections closed after their next answer once ctx has ended.
func closeAfter(ctx context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
