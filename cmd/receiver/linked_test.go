// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// heavy are packages that a receiver must not have in it, and why. Most of what an idle receiver occupies is its program,
// and there is one for each replica of each endpoint: docs/performance.md holds that against the least program.
var heavy = map[string]string{
	"github.com/prometheus": "client_golang brings protobuf's reflection and 2 MiB: receiver/status writes the text format with " +
		"a small library",
	"google.golang.org/protobuf": "1 MiB, most of it before main begins",
	"google.golang.org/grpc":     "the receiver speaks HTTP and Postgres's protocol only",
	"go.opentelemetry.io":        "it brings gRPC and protobuf",
	"k8s.io":                     "the receiver reads mounted files and never asks the API server",
	"sigs.k8s.io":                "the receiver reads mounted files and never asks the API server",
	"expvar":                     "it publishes the command line, and registers itself in http.DefaultServeMux",
	"net/http/pprof":             "it registers itself in http.DefaultServeMux, and nobody may profile a receiver over the network",
	"html/template":              "nothing here is a page",
	"testing":                    "it is for tests",
}

func TestNothingHeavyIsLinked(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	output, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("list the packages: %v: %s", err, output)
	}
	packages := strings.Fields(string(output))
	if len(packages) < 100 {
		t.Fatalf("only %d packages are listed: %s", len(packages), output)
	}
	for _, linked := range packages {
		for path, reason := range heavy {
			if linked == path || strings.HasPrefix(linked, path+"/") {
				t.Errorf("%s is linked: %s", linked, reason)
			}
		}
	}
}
