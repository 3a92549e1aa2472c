// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image finds the programs of an image in a folder. An image here is not a stack of
// layers but a folder of binaries for this machine.
package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// The content of an image's folder.
const (
	manifestFile = "image.json"
	rootFolder   = "rootfs"
)

// Store is the folder that holds a folder (or a link to one) for each image.
type Store struct {
	Dir string
}

// Manifest is image.json: what an image says about itself. Other fields are ignored.
type Manifest struct {
	Digest     string   `json:"digest"`
	Entrypoint []string `json:"entrypoint"` // runs when a container names no command
}

// MissingError says that the store has no folder for an image.
type MissingError struct {
	Image  string
	Folder string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("image %q is not on this node: no folder %s", e.Image, e.Folder)
}

// Folder is where an image is: the reference as it stands in the pod, with '/' and what else a
// file name cannot hold escaped as in a URL's path element.
func (s Store) Folder(reference string) string {
	return filepath.Join(s.Dir, url.PathEscape(reference))
}

// Resolved is a program of an image, ready to run.
type Resolved struct {
	Program string
	Args    []string // without the program's own name
	Digest  string   // of the image; empty if it has none
}

// Resolve turns a container's command and args into a program and its arguments. The image's root
// is the folder rootfs; a bare name is looked up there. An empty command means the entrypoint in
// image.json, which is otherwise not needed. The error is a *MissingError when there is no such
// image, and otherwise says what the image lacks.
func (s Store) Resolve(reference string, command, args []string) (Resolved, error) {
	// A link may point to a newer build at any time; one container's run uses one build.
	folder, err := filepath.EvalSymlinks(s.Folder(reference))
	if err != nil {
		return Resolved{}, &MissingError{Image: reference, Folder: s.Folder(reference)}
	}
	manifest, err := readManifest(folder)
	if err != nil {
		return Resolved{}, fmt.Errorf("image %q: %w", reference, err)
	}
	if len(command) == 0 {
		command = manifest.Entrypoint
	}
	if len(command) == 0 || command[0] == "" {
		return Resolved{}, fmt.Errorf("image %q: neither the container nor the image's %s names a command", reference, manifestFile)
	}
	program, err := find(filepath.Join(folder, rootFolder), command[0])
	if err != nil {
		return Resolved{}, fmt.Errorf("image %q: %w", reference, err)
	}
	arguments := append(append([]string{}, command[1:]...), args...)
	return Resolved{Program: program, Args: arguments, Digest: manifest.Digest}, nil
}

// find looks below the root only.
func find(root, program string) (string, error) {
	path := filepath.Join(root, filepath.Clean("/"+program))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("it has no program %q (looked for %s)", program, path)
	}
	if err != nil {
		return "", fmt.Errorf("look up the program: %w", err)
	}
	if info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return "", fmt.Errorf("%s is not an executable file", path)
	}
	return path, nil
}

func readManifest(folder string) (Manifest, error) {
	content, err := os.ReadFile(filepath.Join(folder, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, nil
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("read %s: %w", manifestFile, err)
	}
	var manifest Manifest
	if err := json.Unmarshal(content, &manifest); err != nil {
		return Manifest{}, fmt.Errorf("parse %s: %w", manifestFile, err)
	}
	return manifest, nil
}
