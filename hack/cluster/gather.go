// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// envtestFolder gathers etcd, kube-apiserver and kubectl in one folder, as envtest wants them.
func envtestFolder(ctx context.Context, s settings) (string, error) {
	return gather(ctx, s, "envtest", envtestSet, nil)
}

// fluxFolder gathers Flux's controllers and, in crds/, the definitions of the kinds that they serve.
func fluxFolder(ctx context.Context, s settings) (string, error) {
	return gather(ctx, s, "flux", fluxSet, func(components []component, folder string) error {
		for _, c := range components {
			if err := copyDefinitions(ctx, s, c, filepath.Join(folder, "crds")); err != nil {
				return err
			}
		}
		return nil
	})
}

// copyDefinitions copies the CRDs which the module of a Flux controller brings along.
func copyDefinitions(ctx context.Context, s settings, c component, folder string) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", fluxModules+c.name)
	cmd.Dir = filepath.Join(s.source, c.dir)
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("find the module of %s: %w", c.name, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("the module of %s has no definitions of its kinds: %w", c.name, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read a definition of %s: %w", c.name, err)
		}
		if err := writeFile(filepath.Join(folder, filepath.Base(file)), content); err != nil {
			return err
		}
	}
	return nil
}

// gather builds components and links their commands in one folder of the cache. more, if any, adds what is not a command.
func gather(
	ctx context.Context, s settings, name string, set []string, more func([]component, string) error,
) (string, error) {
	components, err := selectComponents(s, set)
	if err != nil {
		return "", err
	}
	if err := buildAll(ctx, s, components); err != nil {
		return "", err
	}
	paths, err := s.binaries(components)
	if err != nil {
		return "", err
	}
	names := []string{name}
	for _, c := range components {
		key, err := cacheKey(s.source, c)
		if err != nil {
			return "", err
		}
		names = append(names, key[:8])
	}
	folder := filepath.Join(s.cache, strings.Join(names, "-"))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	unlock, err := lockFile(filepath.Join(s.cache, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	return folder, linkAll(folder, paths, func(temporary string) error {
		if more == nil {
			return nil
		}
		return more(components, temporary)
	})
}

// linkAll makes a folder of links to the commands, and of what more adds; nothing if the folder is there.
func linkAll(folder string, paths map[string]string, more func(folder string) error) error {
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	temporary, err := os.MkdirTemp(filepath.Dir(folder), ".building-links-")
	if err != nil {
		return fmt.Errorf("make a folder of links: %w", err)
	}
	for name, path := range paths {
		if err := os.Symlink(path, filepath.Join(temporary, name)); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	if err := more(temporary); err != nil {
		return err
	}
	if err := os.Chmod(temporary, 0o755); err != nil {
		return fmt.Errorf("open up the folder of links: %w", err)
	}
	if err := os.Rename(temporary, folder); err != nil {
		return fmt.Errorf("name the folder of links: %w", err)
	}
	return nil
}
