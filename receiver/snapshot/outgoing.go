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

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/scheme"
)

// maxOutgoing bounds how many files of destinations' secrets are read, and maxKeys how many signing secrets of one are used.
const (
	maxOutgoing = 256
	maxKeys     = 4
)

// Outgoing are the secrets that deliveries to one destination need.
type Outgoing struct {
	// SigningKeys sign each delivery, once each.
	SigningKeys [][]byte
	// Credentials are what the receiver is known by, as the user's Secret has them.
	Credentials []byte
}

// readOutgoing reads the files of destinations' secrets.
func readOutgoing(dir string) map[string]content {
	files := map[string]content{}
	if dir == "" {
		return files
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return files
	}
	for _, entry := range entries[:min(len(entries), maxOutgoing)] {
		// The kubelet's own names begin with two dots.
		if name := entry.Name(); !strings.HasPrefix(name, ".") && filepath.IsLocal(name) {
			files[name] = readFile(dir, name)
		}
	}
	return files
}

// loadOutgoing decodes the secrets of destinations. A destination of which one is missing or cannot be used is reported, and
// is not among Outgoing.
func (s *Snapshot) loadOutgoing(files map[string]content) {
	s.Outgoing = map[string]Outgoing{}
	if s.Config == nil {
		return
	}
	for _, destination := range s.Config.Destinations {
		var secrets Outgoing
		var err error
		field := receiverstatus.FieldSigning
		if destination.Signed {
			secrets.SigningKeys, err = signingKeys(file(files, destination.Name+receiverconfig.SigningSuffix))
		}
		if err == nil && destination.LogsIn {
			field = receiverstatus.FieldCredentials
			secrets.Credentials, err = credentials(file(files, destination.Name+receiverconfig.CredentialsSuffix))
		}
		if err != nil {
			s.waiting = append(s.waiting, receiverstatus.Destination{Name: destination.Name, Field: field, Problem: err.Error()})
			continue
		}
		s.Outgoing[destination.Name] = secrets
	}
	slices.SortFunc(s.waiting, func(a, b receiverstatus.Destination) int { return strings.Compare(a.Name, b.Name) })
}

func file(files map[string]content, name string) content {
	found, mounted := files[name]
	if !mounted {
		found.err = fs.ErrNotExist
	}
	return found
}

var (
	errNotMounted = errors.New("the Secret or its key is missing, or has not reached the pod yet")
	errTooMany    = fmt.Errorf("more than %d signing secrets", maxKeys)
)

// signingKeys decodes the secrets of one file, which white space separates. The error never has a byte of them.
func signingKeys(file content) ([][]byte, error) {
	if err := file.problem("signing secret"); err != nil {
		return nil, err
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

// credentials returns what one file holds, for whoever logs in to read.
func credentials(file content) ([]byte, error) {
	if err := file.problem("credentials"); err != nil {
		return nil, err
	}
	trimmed := bytes.TrimSpace(file.data)
	if len(trimmed) == 0 {
		return nil, errors.New("the credentials are empty")
	}
	return trimmed, nil
}

// problem says why a file of a destination has not been read, or nothing.
func (c content) problem(what string) error {
	switch {
	case errors.Is(c.err, fs.ErrNotExist):
		return errNotMounted
	case c.err != nil:
		return fmt.Errorf("load %s: %w", what, c.err)
	}
	return nil
}
