// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
)

// SourceFile is the name of the file in the folder of the user's Secret.
const SourceFile = "secret"

// maxFile bounds each file, in bytes: what a Secret or a ConfigMap can hold.
const maxFile = 1 << 20

// Options of a Store. ConfigDir, KeyringDir and Log are required; zero values of the others mean their defaults.
type Options struct {
	// ConfigDir holds config.json, KeyringDir keyring.json.
	ConfigDir, KeyringDir string
	// SourceDir holds the bytes of the user's Secret in the file secret. Default: none are accepted beside the keyring.
	SourceDir string
	// OutgoingDir holds the secrets of destinations: a file for each, of the destination's name and a suffix, such as
	// receiverconfig.SigningSuffix. Default: none, and destinations that need one wait.
	OutgoingDir string
	Log         *slog.Logger
	// Poll is how often the folders are read even if no change was noticed. Default DefaultPoll.
	Poll time.Duration
	// Changed is called with each snapshot that replaces another.
	Changed func(*Snapshot)
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Store holds the snapshot in force.
type Store struct {
	opts    Options
	current atomic.Pointer[Snapshot]

	// mu serializes reloads.
	mu    sync.Mutex
	files contents
}

// Open loads the folders. It succeeds even if nothing in them can be used yet: Snapshot.Usable says so.
func Open(opts Options) *Store {
	if opts.Poll == 0 {
		opts.Poll = DefaultPoll
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Changed == nil {
		opts.Changed = func(*Snapshot) {}
	}
	s := &Store{opts: opts}
	s.files = s.read()
	s.swap(&Snapshot{})
	return s
}

// Current returns the snapshot in force; never nil.
func (s *Store) Current() *Snapshot {
	return s.current.Load()
}

// Used counts that the secret with this fingerprint has verified a delivery.
func (s *Store) Used(fingerprint string) {
	if u := s.current.Load().uses[fingerprint]; u != nil {
		u.count.Add(1)
		u.last.Store(s.opts.Now().Unix())
	}
}

// Reload reads the folders and swaps the snapshot if their content has changed; it says whether it has.
func (s *Store) Reload() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.read()
	if files.equal(s.files) {
		return false
	}
	s.files = files
	s.opts.Changed(s.swap(s.current.Load()))
	return true
}

// swap puts the snapshot of s.files in force.
func (s *Store) swap(previous *Snapshot) *Snapshot {
	next := build(s.files, previous, s.opts.Now())
	s.current.Store(next)
	attrs := []any{
		"config", next.config.Digest, "keyringRevision", next.keyring.Revision, "secrets", len(next.Secrets),
		"sourcePresent", next.source.Present,
	}
	if next.config.Error == "" && next.keyring.Error == "" && next.source.Problem == "" && len(next.waiting) == 0 {
		s.opts.Log.Info("Loaded the mounted folders", attrs...)
		return next
	}
	attrs = append(attrs, "configError", next.config.Error, "keyringError", next.keyring.Error,
		"sourceProblem", next.source.Problem, "destinations", next.waiting)
	s.opts.Log.Warn("Loaded the mounted folders, with problems", attrs...)
	return next
}

func (s *Store) read() contents {
	files := contents{
		config:  readFile(s.opts.ConfigDir, receiverconfig.FileName),
		keyring: readFile(s.opts.KeyringDir, keyring.FileName),
		source:  content{err: fs.ErrNotExist},
	}
	if s.opts.SourceDir != "" {
		files.source = readFile(s.opts.SourceDir, SourceFile)
	}
	files.outgoing = readOutgoing(s.opts.OutgoingDir)
	return files
}

// readFile reads a file of a mounted folder. A file that is not there is looked for once more: the kubelet swaps a folder
// by a symbolic link and removes what it pointed to, and the first look may have fallen in between.
func readFile(dir, name string) content {
	path := filepath.Join(dir, name)
	data, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = readLimited(path)
	}
	return content{data: data, err: err}
}

func readLimited(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return data, nil
}

// Watch reloads the folders whenever they change, and at each poll, until ctx is done. Where the system cannot watch
// them, the polls alone remain.
func (s *Store) Watch(ctx context.Context) {
	Watch(ctx, WatchOptions{
		Folders: []string{s.opts.ConfigDir, s.opts.KeyringDir, s.opts.SourceDir, s.opts.OutgoingDir},
		Poll:    s.opts.Poll, Log: s.opts.Log,
		Changed: func() { s.Reload() },
	})
}
