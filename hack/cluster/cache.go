// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// cacheKey identifies what a build would give: it covers the sources and requirements of the
// component, its flags, the Go release and the platform.
func cacheKey(source string, c component) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, "1", runtime.Version(), runtime.GOOS, runtime.GOARCH, c.cgo, c.tags, c.ldflags)
	commands := make([]string, 0, len(c.commands))
	for name, pkg := range c.commands {
		commands = append(commands, name+"="+pkg)
	}
	slices.Sort(commands)
	fmt.Fprintln(sum, commands)
	files, err := sourceFiles(filepath.Join(source, c.dir))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(source, c.dir, file))
		if err != nil {
			return "", fmt.Errorf("hash component %s: %w", c.name, err)
		}
		fmt.Fprintf(sum, "%s %d\n", file, len(content))
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// sourceFiles lists go.mod, go.sum and the Go files (no tests) below dir in a stable order.
func sourceFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		isSource := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		if entry.IsDir() || !isSource && name != "go.mod" && name != "go.sum" {
			return nil
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files = append(files, filepath.ToSlash(relative))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the sources in %s: %w", dir, err)
	}
	slices.Sort(files)
	return files, nil
}

// cacheFolder is where the binaries of c are, or will be.
func (s settings) cacheFolder(c component) (string, error) {
	key, err := cacheKey(s.source, c)
	if err != nil {
		return "", err
	}
	return filepath.Join(s.cache, c.name+"-"+key), nil
}

// binaries maps the name of every command of the components to its path in the cache.
func (s settings) binaries(components []component) (map[string]string, error) {
	paths := map[string]string{}
	for _, c := range components {
		folder, err := s.cacheFolder(c)
		if err != nil {
			return nil, err
		}
		for name := range c.commands {
			paths[name] = filepath.Join(folder, name)
		}
	}
	return paths, nil
}

// lockFile holds an exclusive lock until unlock is called or the process ends.
func lockFile(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of a lock: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock %s: %w", path, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		progress("waiting for another run which holds %s", path)
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			file.Close()
			return nil, fmt.Errorf("take lock %s: %w", path, err)
		}
	}
	return func() { file.Close() }, nil
}
