// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command sink stands for the system behind a destination: it answers every POST with 204 and appends one JSON line for
// each to a file, so that calls and their idempotency keys can be counted across its restarts.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/hookonce/hookonce/test/story"
)

func main() {
	address := flag.String("address", "127.0.0.1:8099", "address to listen on")
	file := flag.String("file", "", "file that calls are appended to")
	flag.Parse()
	if err := run(*address, *file); err != nil {
		slog.Error("Sink stopped", "error", err)
		os.Exit(1)
	}
}

func run(address, file string) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the file of calls: %w", err)
	}
	server := &http.Server{Addr: address, Handler: &sink{out: out}, ReadHeaderTimeout: 5 * time.Second}
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type sink struct {
	mu  sync.Mutex
	out *os.File
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "unreadable body", http.StatusBadRequest)
		return
	}
	line, err := json.Marshal(story.NewCall(r.Header, body, time.Now()))
	if err != nil {
		http.Error(w, "unwritable call", http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(append(line, '\n')); err != nil {
		http.Error(w, "cannot record the call", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
