// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rotation decides how a signing secret is changed without losing a delivery. Plan is pure: it looks at what was
// observed and says what the keyring becomes, what people are told, and when to look again. It reads no clock and talks
// to nobody.
//
//	         the secret cannot be used, or was revoked
//	Pending ────────────────────────────────────────► Rejected (looked at again: a mended Secret goes on)
//	   │ │
//	   │ └─ the secret is the current one already ───► AlreadyCurrent
//	   │ keyring: the new secret is current, the former has a provisional ceiling
//	   ▼
//	Propagating   both accepted; the ceiling moves while receivers lag
//	   │ keyring, once the last ready receiver has the new secret: the former's deadline, counted from now
//	   ▼
//	OverlapActive both accepted until the deadline; Ready
//	   │ keyring, at the deadline or on revocation: the former's bytes are gone, a tombstone is left
//	   ▼
//	Retiring      receivers refuse the former already; they are loading the keyring without it
//	   │ the last ready receiver has loaded it
//	   ▼
//	Completed, or Revoked
//
// With WhenUnused the deadline moves on while the former secret verifies deliveries, to as long after the last of them as
// the overlap, in the last tenth before it (at least 15 minutes), but no more in its last ten minutes: by somebody's clock it
// may be over already, and nothing that was refused is accepted again. (Of overlaps under 40 minutes these are a quarter, and
// under half an hour the last tenth is half: they bear less difference between clocks.) A first use in those last minutes
// comes too late. The overlap's start stays, so that MaxOverlap is counted from there whatever happens. An operator that is
// away leaves the deadline that was published last. An edit to AtDeadline ends the overlap where it would have ended; a shorter
// overlap moves a deadline that is further away than it is, and no nearer one: that may stand because of a use that the
// receivers have forgotten.
//
// A later rotation turns each state after Pending into Superseded, which still brings its own former secret to its end; a
// rotation that has not started when a later one has is Superseded too. The keyring is the record: a rotation is followed
// by the traces that its UID leaves there, so that a lost status or a crash between two writes moves no deadline.
//
// A rotation that is Immediate, and to the secret that another rotation has made current already, takes over from that one,
// which is Superseded then: what it asks for is to revoke the former secret, whoever was first. A rotation that is deleted and
// applied again asks for nothing new: the keyring remembers by which names a secret became current, and a former secret does
// not become current again under one of them.
package rotation
