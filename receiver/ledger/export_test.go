// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

// Waiting is how many events no batch has taken yet.
func (l *Ledger) Waiting() int {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	return len(l.queue.waiting)
}
