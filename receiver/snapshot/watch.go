// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"log/slog"
	"time"

	"github.com/fsnotify/fsnotify"
)

// DefaultPoll is how often mounted folders are read even if no change was noticed.
const DefaultPoll = 10 * time.Second

// WatchOptions say what to watch. Changed and Log are required.
type WatchOptions struct {
	// Folders to watch; empty names are left out.
	Folders []string
	// Poll is how often Changed is called even if no change was noticed. Default DefaultPoll.
	Poll time.Duration
	// Changed is called when something in a folder may have changed, at least once, and never twice at a time.
	Changed func()
	Log     *slog.Logger
}

// Watch calls Changed at once, whenever a folder may have changed, and at each poll, until ctx is done. Where the system
// cannot watch folders, the polls alone remain.
func Watch(ctx context.Context, opts WatchOptions) {
	if opts.Poll == 0 {
		opts.Poll = DefaultPoll
	}
	ticker := time.NewTicker(opts.Poll)
	defer ticker.Stop()
	var events <-chan fsnotify.Event
	var failures <-chan error
	add := func() {}
	if watcher, err := fsnotify.NewWatcher(); err != nil {
		opts.Log.Warn("Folders are polled, not watched", "poll", opts.Poll, "error", err)
	} else {
		defer watcher.Close()
		events, failures = watcher.Events, watcher.Errors
		add = func() { watchFolders(watcher, opts) }
	}
	add()
	opts.Changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
		case err := <-failures:
			opts.Log.Warn("Watching the folders failed; the next poll makes up for it", "error", err)
			continue
		case <-ticker.C:
			// A folder that was not there, or was replaced, is watched from here on.
			add()
		}
		opts.Changed()
	}
}

func watchFolders(watcher *fsnotify.Watcher, opts WatchOptions) {
	for _, dir := range opts.Folders {
		if dir == "" {
			continue
		}
		if err := watcher.Add(dir); err != nil {
			opts.Log.Debug("Folder cannot be watched", "folder", dir, "error", err)
		}
	}
}
