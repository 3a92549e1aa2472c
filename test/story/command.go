// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// command is one program to run to its end.
type command struct {
	name  string
	args  []string
	stdin string
	env   []string
	// progress receives what the program writes to its standard error; nil keeps it for the error message alone.
	progress io.Writer
}

// run returns what the program wrote to its standard output; its error carries what it wrote to its standard error.
func (c command) run(ctx context.Context, dir string) (string, error) {
	var stdout, stderr bytes.Buffer
	process := exec.CommandContext(ctx, c.name, c.args...)
	process.Dir = dir
	process.Env = append(process.Environ(), c.env...)
	process.Stdin = strings.NewReader(c.stdin)
	process.Stdout = &stdout
	process.Stderr = &stderr
	process.WaitDelay = 5 * time.Second
	if c.progress != nil {
		process.Stderr = io.MultiWriter(&stderr, c.progress)
	}
	if err := process.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w: %s", c.name, strings.Join(c.args, " "), err, tail(stderr.String()))
	}
	return stdout.String(), nil
}

// tail keeps the last lines of a program's complaints.
func tail(text string) string {
	const most = 2000
	text = strings.TrimSpace(text)
	if len(text) > most {
		return "... " + text[len(text)-most:]
	}
	return text
}

// Eventually calls check until it returns nil, and returns its last error when the time is over.
func Eventually(ctx context.Context, limit, interval time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not true after %s: %w", limit, err)
		case <-tick.C:
		}
	}
}
