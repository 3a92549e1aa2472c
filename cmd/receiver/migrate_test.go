// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// TestMigrateReportsWhyItFails reads the report as the operator does from the container's last words.
func TestMigrateReportsWhyItFails(t *testing.T) {
	s := newShop(t, newSink(t).URL)
	report := filepath.Join(t.TempDir(), "report")
	const unreachable = "postgres://app:test-password@127.0.0.1:1/shop"
	var out bytes.Buffer
	code := run(t.Context(), []string{
		"migrate", "--config-dir=" + s.configDir, "--database-url=" + unreachable, "--wait=0s", "--report=" + report,
	}, streams{in: strings.NewReader(""), out: &out, err: &out})
	if code != exitFailed {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var failure receiverstatus.Database
	if err := json.Unmarshal(text, &failure); err != nil {
		t.Fatal(err)
	}
	if failure.Reachable || failure.Reason != "ConnectionRefused" || failure.Message == "" {
		t.Errorf("report %s", text)
	}
	if strings.Contains(string(text), "test-password") {
		t.Errorf("the report has the password: %s", text)
	}
}
