// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// loadImage gives an image to the running cluster and returns the reference for pods.
func loadImage(ctx context.Context, s settings, spec imageSpec) (string, error) {
	state, err := s.readState()
	if err != nil {
		return "", err
	}
	built, err := buildImage(spec)
	if err != nil {
		return "", err
	}
	if state.Node == nodeProcess {
		return spec.reference, built.unpackInto(s.images())
	}
	l, _, err := openLocal(s, state.Node)
	if err != nil {
		return "", err
	}
	return spec.reference, l.importImage(ctx, built)
}

// importImage imports into containerd what it does not have yet.
func (l *local) importImage(ctx context.Context, built builtImage) error {
	listing, err := l.ctr(ctx, "images", "list", "name=="+built.spec.reference)
	if err != nil {
		return err
	}
	if bytes.Contains(listing, []byte(built.digest.String())) {
		progress("image %s is there already (%s)", built.spec.reference, built.digest)
		return nil
	}
	archive := l.path("image-" + built.digest.Hex[:12] + ".tar")
	defer os.Remove(archive)
	if err := built.writeArchive(archive); err != nil {
		return err
	}
	if _, err := l.ctr(ctx, "images", "import", "--local", "--no-unpack", archive); err != nil {
		return err
	}
	progress("loaded image %s (%s)", built.spec.reference, built.digest)
	return nil
}

// imageManifest is image.json beside the binaries of an image for the process node.
type imageManifest struct {
	Reference  string   `json:"reference"`
	Digest     string   `json:"digest"`
	User       string   `json:"user"`
	Entrypoint []string `json:"entrypoint"`
}

// imageFolder is the name of the folder that holds an image for the process node.
func imageFolder(reference string) string { return url.PathEscape(reference) }

// imageNames are the ways in which a pod may spell a normal reference.
func imageNames(reference string) []string {
	names := []string{reference}
	if short, ok := strings.CutPrefix(reference, "docker.io/"); ok {
		names = append(names, short)
		if shorter, ok := strings.CutPrefix(short, "library/"); ok {
			names = append(names, shorter)
		}
	}
	for _, name := range names {
		if untagged, ok := strings.CutSuffix(name, ":latest"); ok {
			names = append(names, untagged)
		}
	}
	return names
}

// unpackInto puts the binaries where the process node finds them: DIR/ESCAPED-REFERENCE with
// image.json and rootfs/NAME. That folder is a link which changes at once, so that a pod
// started meanwhile sees the old image or the new one.
func (b builtImage) unpackInto(dir string) error {
	target := "." + b.digest.Hex[:16]
	current, err := os.Readlink(filepath.Join(dir, imageFolder(b.spec.reference)))
	if err == nil && current == target {
		progress("image %s is there already (%s)", b.spec.reference, b.digest)
		return nil
	}
	folder := filepath.Join(dir, target)
	for _, binary := range b.spec.binaries {
		if err := copyProgram(binary, filepath.Join(folder, "rootfs", filepath.Base(binary))); err != nil {
			return err
		}
	}
	manifest, err := json.MarshalIndent(imageManifest{
		Reference: b.spec.reference, Digest: b.digest.String(), User: b.spec.user, Entrypoint: []string{b.spec.entry()},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("describe image %s: %w", b.spec.reference, err)
	}
	if err := writeFile(filepath.Join(folder, "image.json"), manifest); err != nil {
		return err
	}
	// The full name comes last: it is what says above that the image is there.
	names := imageNames(b.spec.reference)
	for _, name := range append(names[1:], names[0]) {
		if err := relink(filepath.Join(dir, imageFolder(name)), target); err != nil {
			return fmt.Errorf("name image %s: %w", b.spec.reference, err)
		}
	}
	progress("loaded image %s (%s)", b.spec.reference, b.digest)
	return nil
}

// relink makes link point to target in one step.
func relink(link, target string) error {
	fresh := link + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, link)
}

func copyProgram(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read a binary of the image: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("make the folder of an image: %w", err)
	}
	// A running copy of the same digest must not be written to.
	temporary := to + ".new"
	if err := os.WriteFile(temporary, content, 0o755); err != nil {
		return fmt.Errorf("copy a binary of the image: %w", err)
	}
	if err := os.Rename(temporary, to); err != nil {
		return fmt.Errorf("copy a binary of the image: %w", err)
	}
	return nil
}

// stringList is a flag that may be given several times.
type stringList []string

func (l *stringList) String() string { return strings.Join(*l, ",") }

// Set appends one value.
func (l *stringList) Set(value string) error {
	*l = append(*l, value)
	return nil
}
