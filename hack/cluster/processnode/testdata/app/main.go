// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command app is what the pods of the integration tests run.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	address := flag.String("address", "", "serve HTTP here until SIGTERM")
	dir := flag.String("dir", "", "folder whose files are served below /file/")
	linger := flag.Duration("linger", 0, "time between SIGTERM and the end")
	write := flag.String("write", "", "file to write")
	text := flag.String("text", "", "what to write into the file, or else to print")
	wait := flag.Duration("wait", 0, "time to wait at the start")
	code := flag.Int("exit", 0, "exit code")
	flag.Parse()
	fmt.Println("started")
	time.Sleep(*wait)
	switch {
	case *address != "":
		serve(*address, *dir, *linger)
	case *write != "":
		if err := os.WriteFile(*write, []byte(*text), 0o644); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	default:
		fmt.Println(*text)
	}
	os.Exit(*code)
}

func serve(address, dir string, linger time.Duration) {
	var notReady, notAlive atomic.Bool
	probe := func(bad *atomic.Bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if bad.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}
	}
	http.HandleFunc("GET /ready", probe(&notReady))
	http.HandleFunc("GET /live", probe(&notAlive))
	http.HandleFunc("POST /ready/toggle", func(http.ResponseWriter, *http.Request) { notReady.Store(!notReady.Load()) })
	http.HandleFunc("POST /live/toggle", func(http.ResponseWriter, *http.Request) { notAlive.Store(!notAlive.Load()) })
	http.HandleFunc("POST /crash", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	http.HandleFunc("GET /prestop", func(http.ResponseWriter, *http.Request) { fmt.Println("prestop") })
	http.HandleFunc("GET /env/{name}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, os.Getenv(r.PathValue("name")))
	})
	http.HandleFunc("GET /file/{name}", func(w http.ResponseWriter, r *http.Request) {
		content, err := os.ReadFile(filepath.Join(dir, filepath.Base(r.PathValue("name"))))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		_, _ = w.Write(content)
	})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		fmt.Println("SIGTERM")
		time.Sleep(linger)
		fmt.Println("bye")
		os.Exit(0)
	}()
	fmt.Println(http.ListenAndServe(address, nil))
	os.Exit(1)
}
