// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Log is the part of a container's log file that one run wrote.
type Log struct {
	Path string
	From int64
	To   int64 // -1: to the end, which may still grow
	Live bool  // the run is not over
}

// Log finds the output of a container's current run, or of the one before. It reports false if
// there was no such run.
func (r *Runner) Log(name string, previous bool) (Log, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range slices.Concat(r.inits, r.mains) {
		if c.name != name || len(c.runs) == 0 || previous && len(c.runs) == 1 {
			continue
		}
		log := Log{Path: r.logPath(name), From: c.runs[len(c.runs)-1], To: -1, Live: c.status.State.Running != nil}
		if previous {
			log = Log{Path: log.Path, From: c.runs[len(c.runs)-2], To: log.From}
		}
		return log, true
	}
	return Log{}, false
}

func (r *Runner) logPath(container string) string {
	return filepath.Join(r.node.LogDir, r.pod.Namespace+"_"+r.pod.Name+"_"+container+".log")
}

// openLog appends to the container's file and notes where the new run begins in it.
func (r *Runner) openLog(c *container) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	file, err := os.OpenFile(r.logPath(c.name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look at the log: %w", err), file.Close())
	}
	c.runs = append(c.runs, info.Size())
	return file, nil
}
