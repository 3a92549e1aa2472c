// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status is the private port of a receiver: /status for the operator, /livez and /readyz for the kubelet,
// /metrics for Prometheus. Nothing on it waits for the database.
package status

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// Paths on the private port beside receiverstatus.Path.
const (
	LivePath    = "/livez"
	ReadyPath   = "/readyz"
	MetricsPath = "/metrics"
)

// maxScrapes are answered at once: each stops the process for a moment to read its memory's state.
const maxScrapes = 2

// Options of the private server; all are required.
type Options struct {
	// Status returns the document; it must not block.
	Status func() receiverstatus.Status
	// Ready returns nil while the receiver should get deliveries, or why not; it must not block.
	Ready func() error
	// Metrics writes the time series in Prometheus's text format.
	Metrics func(io.Writer)
	Log     *slog.Logger
}

// NewServer returns the private server, without an address: use Serve with a listener.
func NewServer(opts Options) *http.Server {
	return &http.Server{
		Handler:           NewHandler(opts),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      15 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(opts.Log.Handler(), slog.LevelDebug),
	}
}

// NewHandler returns the handler of the private port.
func NewHandler(opts Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+receiverstatus.Path, func(w http.ResponseWriter, _ *http.Request) {
		writeStatus(w, opts)
	})
	// Alive is a process that answers. A database that is away must not get every receiver restarted.
	mux.HandleFunc("GET "+LivePath, func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET "+ReadyPath, func(w http.ResponseWriter, _ *http.Request) {
		if err := opts.Ready(); err != nil {
			writeText(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		writeText(w, http.StatusOK, "ok")
	})
	scrapes := make(chan struct{}, maxScrapes)
	mux.HandleFunc("GET "+MetricsPath, func(w http.ResponseWriter, _ *http.Request) {
		select {
		case scrapes <- struct{}{}:
			defer func() { <-scrapes }()
		default:
			writeText(w, http.StatusServiceUnavailable, "too many scrapes at once")
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "no-store")
		opts.Metrics(w)
	})
	return mux
}

func writeStatus(w http.ResponseWriter, opts Options) {
	document, err := json.Marshal(opts.Status())
	if err != nil {
		opts.Log.Error("Encoding the status failed", "error", err)
		writeText(w, http.StatusInternalServerError, "the status cannot be encoded")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(document, '\n'))
}

func writeText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text + "\n"))
}
