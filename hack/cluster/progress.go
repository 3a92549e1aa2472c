// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

var began = time.Now()

// progress prints one line on stderr with the time since the start; stdout is for results.
func progress(format string, args ...any) {
	elapsed := time.Since(began).Round(time.Second)
	fmt.Fprintf(os.Stderr, "[%4ds] %s\n", int(elapsed.Seconds()), fmt.Sprintf(format, args...))
}

// lastLines returns the end of out, which is where programs say why they failed.
func lastLines(out []byte, n int) string {
	lines := bytes.Split(bytes.TrimRight(out, "\n"), []byte("\n"))
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return string(bytes.Join(lines, []byte("\n")))
}
