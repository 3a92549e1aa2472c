// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package volume fills the folders that stand for a pod's volumes.
package volume

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The names that the kubelet gives to the link to the current content and to the next one.
const (
	dataLink     = "..data"
	nextDataLink = "..data_tmp"
)

// File is one file of a volume.
type File struct {
	Data []byte
	Mode fs.FileMode
}

// Write makes the folder show exactly the files given, by relative path. A reader sees either all
// of the old files or all of the new ones: they are in a folder of their own, named after now,
// and the link ..data is renamed onto it, as the kubelet does. It reports whether anything changed.
func Write(dir string, files map[string]File, now time.Time) (bool, error) {
	for name := range files {
		if !filepath.IsLocal(name) || strings.HasPrefix(name, "..") {
			return false, fmt.Errorf("the path %q would leave the volume", name)
		}
	}
	old, err := os.Readlink(filepath.Join(dir, dataLink))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read the link to the current files: %w", err)
	}
	if old != "" {
		same, err := holds(filepath.Join(dir, old), files)
		if err != nil || same {
			return false, err
		}
	}
	snapshot, err := writeSnapshot(dir, files, now)
	if err != nil {
		return false, err
	}
	if err := swap(dir, snapshot); err != nil {
		return false, err
	}
	if err := linkTopLevel(dir, files); err != nil {
		return true, err
	}
	if old != "" {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			return true, fmt.Errorf("remove the former files: %w", err)
		}
	}
	return true, nil
}

// holds reports whether the folder has the files given and no others.
func holds(dir string, files map[string]File) (bool, error) {
	seen := 0
	same := true
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		seen++
		want, ok := files[name]
		if !ok {
			same = false
			return fs.SkipAll
		}
		got, err := os.ReadFile(path) //nolint:gosec // only the node writes into this folder
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		same = same && bytes.Equal(got, want.Data) && info.Mode().Perm() == want.Mode.Perm()
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("compare the current files: %w", err)
	}
	return same && seen == len(files), nil
}

func writeSnapshot(dir string, files map[string]File, now time.Time) (string, error) {
	snapshot, err := os.MkdirTemp(dir, now.UTC().Format("..2006_01_02_15_04_05."))
	if err != nil {
		return "", fmt.Errorf("make a folder for the new files: %w", err)
	}
	if err := os.Chmod(snapshot, 0o755); err != nil {
		return "", fmt.Errorf("open the folder of the new files: %w", err)
	}
	for name, file := range files {
		path := filepath.Join(snapshot, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", fmt.Errorf("make a folder in the volume: %w", err)
		}
		if err := os.WriteFile(path, file.Data, file.Mode.Perm()); err != nil {
			return "", fmt.Errorf("write a file of the volume: %w", err)
		}
		// The mode given at creation is subject to the umask.
		if err := os.Chmod(path, file.Mode.Perm()); err != nil {
			return "", fmt.Errorf("set the mode of a file of the volume: %w", err)
		}
	}
	return filepath.Base(snapshot), nil
}

func swap(dir, snapshot string) error {
	next := filepath.Join(dir, nextDataLink)
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a left-over link: %w", err)
	}
	if err := os.Symlink(snapshot, next); err != nil {
		return fmt.Errorf("link the new files: %w", err)
	}
	if err := os.Rename(next, filepath.Join(dir, dataLink)); err != nil {
		return fmt.Errorf("switch to the new files: %w", err)
	}
	return nil
}

// linkTopLevel makes each first path element a link through ..data, and removes the links of
// what is gone.
func linkTopLevel(dir string, files map[string]File) error {
	wanted := make(map[string]bool)
	for name := range files {
		first, _, _ := strings.Cut(name, string(filepath.Separator))
		wanted[first] = true
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("link a file of the volume: %w", err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list the volume: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") || wanted[entry.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("remove the link of a former file: %w", err)
		}
	}
	return nil
}
