// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import "time"

// Backoff is how long a container that ended waits before it runs again.
type Backoff struct {
	First  time.Duration // after the first end
	Most   time.Duration // the delay doubles up to this
	Forget time.Duration // a run that lasted so long starts the series over
}

// DefaultBackoff is shorter than the kubelet's (10 s to 5 min), because people and tests wait for it.
var DefaultBackoff = Backoff{First: time.Second, Most: 30 * time.Second, Forget: time.Minute}

// series counts the delays of one container.
type series struct {
	Backoff
	next time.Duration
}

// after is the delay after a run that lasted so long.
func (s *series) after(ran time.Duration) time.Duration {
	if s.next == 0 || ran >= s.Forget {
		s.next = s.First
	}
	delay := s.next
	s.next = min(2*s.next, s.Most)
	return delay
}
