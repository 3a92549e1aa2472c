// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/scheme"
)

// maxSigning bounds how many files of signing secrets are read, and maxKeys how many secrets of one file are used.
const (
	maxSigning = 256
	maxKeys    = 4
)

// readSigning reads the signing secrets of destinations: a file for each, by its name.
func readSigning(dir string) map[string]content {
	files := map[string]content{}
	if dir == "" {
		return files
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return files
	}
	for _, entry := range entries[:min(len(entries), maxSigning)] {
		// The kubelet's own names begin with two dots.
		if name := entry.Name(); !strings.HasPrefix(name, ".") && filepath.IsLocal(name) {
			files[name] = readFile(dir, name)
		}
	}
	return files
}

// loadSigning decodes the signing secrets of the destinations that are to be signed. A destination whose secret is missing
// or cannot be used is reported, and has no keys.
func (s *Snapshot) loadSigning(files map[string]content) {
	s.Signing = map[string][][]byte{}
	if s.Config == nil {
		return
	}
	for _, destination := range s.Config.Destinations {
		if !destination.Signed {
			continue
		}
		file, mounted := files[destination.Name]
		if !mounted {
			file.err = fs.ErrNotExist
		}
		keys, err := signingKeys(file)
		if err != nil {
			s.unsigned = append(s.unsigned, receiverstatus.Destination{Name: destination.Name, Problem: err.Error()})
			continue
		}
		s.Signing[destination.Name] = keys
	}
	slices.SortFunc(s.unsigned, func(a, b receiverstatus.Destination) int { return strings.Compare(a.Name, b.Name) })
}

var (
	errNotMounted = errors.New("the Secret or its key is missing, or has not reached the pod yet")
	errTooMany    = fmt.Errorf("more than %d signing secrets", maxKeys)
)

// signingKeys decodes the secrets of one file, which white space separates. The error never has a byte of them.
func signingKeys(file content) ([][]byte, error) {
	if errors.Is(file.err, fs.ErrNotExist) {
		return nil, errNotMounted
	}
	if file.err != nil {
		return nil, fmt.Errorf("load signing secret: %w", file.err)
	}
	texts := bytes.Fields(file.data)
	if len(texts) == 0 {
		return nil, errors.New("the signing secret is empty")
	}
	if len(texts) > maxKeys {
		return nil, errTooMany
	}
	standard, _ := scheme.Preset(scheme.StandardWebhooks)
	keys := make([][]byte, len(texts))
	for i, text := range texts {
		key, err := standard.DecodeSecret(text)
		if err != nil {
			return nil, fmt.Errorf("signing secret %d: %w", i+1, err)
		}
		keys[i] = key
	}
	return keys, nil
}
