// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// heartbeat is how often a running build says that it is still running.
const heartbeat = 30 * time.Second

// buildAll builds those components which the cache does not hold.
func buildAll(ctx context.Context, s settings, components []component) error {
	var missing []component
	for _, c := range components {
		folder, err := s.cacheFolder(c)
		if err != nil {
			return err
		}
		if _, err := os.Stat(folder); err != nil {
			missing = append(missing, c)
		}
	}
	for i, c := range missing {
		if err := buildOne(ctx, s, c, fmt.Sprintf("%s (%d of %d)", c.name, i+1, len(missing))); err != nil {
			return err
		}
	}
	return nil
}

func buildOne(ctx context.Context, s settings, c component, label string) error {
	unlock, err := lockFile(filepath.Join(s.cache, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	folder, err := s.cacheFolder(c)
	if err != nil {
		return err
	}
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	removeUnfinished(s.cache)
	temporary, err := os.MkdirTemp(s.cache, ".building-"+c.name+"-")
	if err != nil {
		return fmt.Errorf("make a folder to build %s in: %w", c.name, err)
	}
	defer os.RemoveAll(temporary)
	started := time.Now()
	progress("building %s", label)
	stop := keepSaying(label, started)
	err = goBuild(ctx, s, c, temporary)
	stop()
	if err != nil {
		return err
	}
	if err := os.Chmod(temporary, 0o755); err != nil {
		return fmt.Errorf("open up the binaries of %s: %w", c.name, err)
	}
	if err := os.Rename(temporary, folder); err != nil {
		return fmt.Errorf("put %s into the cache: %w", c.name, err)
	}
	progress("built %s in %s", label, time.Since(started).Round(time.Second))
	return nil
}

// removeUnfinished deletes what builds that were killed have left. Whoever calls it holds the
// lock, so no other build is under way.
func removeUnfinished(cache string) {
	folders, err := filepath.Glob(filepath.Join(cache, ".building-*"))
	if err != nil {
		return
	}
	for _, folder := range folders {
		_ = os.RemoveAll(folder)
	}
}

// keepSaying reports a long build now and then until stop is called.
func keepSaying(label string, started time.Time) (stop func()) {
	done := make(chan struct{})
	ticker := time.NewTicker(heartbeat)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				progress("still building %s, %s so far", label, time.Since(started).Round(time.Second))
			}
		}
	}()
	return func() { close(done) }
}

// goBuild runs one `go build` for all commands of c when their names allow it, so that the
// compiler works on one command while it links another.
func goBuild(ctx context.Context, s settings, c component, folder string) error {
	output := folder + string(filepath.Separator)
	var packages []string
	for name, pkg := range c.commands {
		packages = append(packages, pkg)
		if len(c.commands) == 1 {
			output = filepath.Join(folder, name)
		}
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-tags", c.tags, "-ldflags", c.ldflags, "-o", output}
	command := "go"
	args = append(args, packages...)
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{"-n", "10", command}, args...)
		command = nice
	}
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir = filepath.Join(s.source, c.dir)
	cgo := "CGO_ENABLED=0"
	if c.cgo {
		cgo = "CGO_ENABLED=1"
	}
	// The user's own flags (say -mod=vendor or -race) are for the user's own code.
	cmd.Env = append(os.Environ(), cgo, "GOFLAGS=", "GOWORK=off")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", c.name, err, lastLines(out.Bytes(), 20))
	}
	return nil
}
