// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image finds the programs of an image in a folder. An image here is not a stack of
// layers but a folder of binaries for this machine.
package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// entrypointFile holds what runs when a container names no command: one argument a line, the
// first of them the program.
const entrypointFile = "entrypoint"

// Store is the folder that holds a folder for each image.
type Store struct {
	Dir string
}

// MissingError says that the store has no folder for an image.
type MissingError struct {
	Image  string
	Folder string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("image %q is not on this node: no folder %s", e.Image, e.Folder)
}

// Folder is where the binaries of an image are: the image's name with every character other
// than letters, digits, '.', '_' and '-' replaced by '_'.
func (s Store) Folder(image string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, image)
	return filepath.Join(s.Dir, name)
}

// Resolve turns a container's command and args into the path of a program and its arguments
// (without the program's own name). An empty command means the image's entrypoint. The error is
// a *MissingError when there is no such image, and otherwise says what the image lacks.
func (s Store) Resolve(image string, command, args []string) (string, []string, error) {
	folder := s.Folder(image)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", nil, &MissingError{Image: image, Folder: folder}
	}
	if len(command) == 0 {
		entrypoint, err := readEntrypoint(folder)
		if err != nil {
			return "", nil, fmt.Errorf("image %q: %w", image, err)
		}
		command = entrypoint
	}
	program, err := find(folder, command[0])
	if err != nil {
		return "", nil, fmt.Errorf("image %q: %w", image, err)
	}
	arguments := append(append([]string{}, command[1:]...), args...)
	return program, arguments, nil
}

// find looks below the folder only: the image's root is the folder, and a bare name is looked up
// there as if the folder were the search path.
func find(folder, program string) (string, error) {
	if program == "" {
		return "", errors.New("the command is empty")
	}
	path := filepath.Join(folder, filepath.Clean("/"+program))
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

func readEntrypoint(folder string) ([]string, error) {
	content, err := os.ReadFile(filepath.Join(folder, entrypointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the container names no command and the image has no file %q", entrypointFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read the entrypoint: %w", err)
	}
	var command []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" {
			command = append(command, line)
		}
	}
	if len(command) == 0 {
		return nil, fmt.Errorf("the image's file %q is empty", entrypointFile)
	}
	return command, nil
}
