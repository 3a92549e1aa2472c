// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiver

import "time"

// Secret is one signing secret that deliveries may be verified with.
type Secret struct {
	// Key is the decoded HMAC key; never empty.
	Key []byte
	// Fingerprint identifies the secret without revealing it.
	Fingerprint string
	// Role is current, previous or provisional (mounted, and not yet in the keyring).
	Role string
	// NotAfter is the moment from which the secret is refused; zero if there is none.
	NotAfter time.Time
}

// Accepted says whether the secret is accepted at the moment now.
func (s Secret) Accepted(now time.Time) bool {
	return s.NotAfter.IsZero() || now.Before(s.NotAfter)
}
