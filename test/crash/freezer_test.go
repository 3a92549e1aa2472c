// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"io"
	"sync"
	"time"
)

// frozenFor bounds how long watches tell nothing.
const frozenFor = 300 * time.Millisecond

// freezer holds back what watches tell until it thaws, or for frozenFor.
type freezer struct {
	mu    sync.Mutex
	until chan struct{}
}

func (f *freezer) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until != nil {
		return
	}
	until := make(chan struct{})
	f.until = until
	time.AfterFunc(frozenFor, f.thaw)
}

func (f *freezer) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until != nil {
		close(f.until)
		f.until = nil
	}
}

// wait returns when nothing is frozen, or somebody is gone.
func (f *freezer) wait(gone <-chan struct{}) {
	f.mu.Lock()
	until := f.until
	f.mu.Unlock()
	if until == nil {
		return
	}
	select {
	case <-until:
	case <-gone:
	}
}

// heldBody is the body of a watch's answer.
type heldBody struct {
	io.ReadCloser
	until *freezer
	gone  <-chan struct{}
}

// Read implements io.Reader.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.until.wait(b.gone)
	return n, err
}
