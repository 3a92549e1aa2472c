// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command probe is the workload of the cluster's own test: it answers over HTTP what a pod
// can see and reach.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount/"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "once" {
		fmt.Println("probe ran once")
		return
	}
	mux := http.NewServeMux()
	answer(mux, "/name", func(*http.Request) (string, error) { return os.Hostname() })
	answer(mux, "/file", func(r *http.Request) (string, error) {
		content, err := os.ReadFile(r.FormValue("path"))
		return string(content), err
	})
	answer(mux, "/write", func(r *http.Request) (string, error) {
		return "written", os.WriteFile(r.FormValue("path"), []byte("x"), 0o600)
	})
	answer(mux, "/resolve", func(r *http.Request) (string, error) {
		addresses, err := net.DefaultResolver.LookupHost(r.Context(), r.FormValue("name"))
		return strings.Join(addresses, " "), err
	})
	answer(mux, "/get", func(r *http.Request) (string, error) {
		return get(r.Context(), &http.Client{Timeout: 10 * time.Second}, r.FormValue("url"), "")
	})
	answer(mux, "/pods", listPods)
	server := &http.Server{Addr: ":8080", Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	fmt.Println("probe serves")
	if err := server.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(mux *http.ServeMux, path string, f func(*http.Request) (string, error)) {
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		defer cancel()
		text, err := f(r.WithContext(ctx))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, text)
	})
}

// listPods asks the API server with the pod's own token.
func listPods(r *http.Request) (string, error) {
	token, err := os.ReadFile(accountFolder + "token")
	if err != nil {
		return "", err
	}
	authority, err := os.ReadFile(accountFolder + "ca.crt")
	if err != nil {
		return "", err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return "", errors.New("ca.crt holds no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	client := &http.Client{Timeout: 10 * time.Second, Transport: transport}
	return get(r.Context(), client, "https://kubernetes.default.svc/api/v1/namespaces/default/pods", string(token))
}

func get(ctx context.Context, client *http.Client, url, token string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}
