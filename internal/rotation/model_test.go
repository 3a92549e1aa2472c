// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"time"

	"github.com/hookonce/hookonce/internal/rotation"
)

const (
	// skew is by how much the clocks of two operators may differ. Every bound of the model is twice that uncertain then.
	skew = 5 * time.Minute
	// late is for how long a secret may be accepted after its time.
	late = time.Minute
	// spare is how much longer than the overlap a former secret is kept at least while its successor is not everywhere.
	spare = 30 * time.Minute
)

// model says what must be accepted, from what has happened and by simpler means than Plan: it knows no keyring and no
// states, only when each secret stopped being current, and when an operator saw every ready receiver with its successor.
type model struct {
	current string
	// since is the revision of the keyring that made it current.
	since   int64
	former  map[string]*demotion
	revoked map[string]bool
	// done are the secrets that the rotations of a name have made current.
	done map[string][]string
	// told are the secrets of which people were told that they are everywhere.
	told map[string]bool
	// doubt is how uncertain every bound is.
	doubt time.Duration
}

// demotion is how a secret stopped being the current one.
type demotion struct {
	by       *asked
	revision int64
	// since is the revision that had made it the current one.
	since int64
	// spec is what an operator knew when it last looked, at looked; seen is when one first saw the successor everywhere.
	spec         rotation.Spec
	looked, seen time.Time
	// longest is the longest overlap that an operator knew of until then, for a ceiling only moves forward.
	longest time.Duration
	// used is when the secret was last used, and kept until when its use may keep it.
	used, kept time.Time
	// lapse is the end that nobody need prolong any more, for by somebody's clock it may be over; over says that it is by
	// every clock, so that nobody may.
	lapse time.Time
	over  bool
	// soon and past are the same by the clocks of receivers, and as late as they see what is written.
	soon time.Time
	past bool
}

// overlap is what the spec asks for.
func (d *demotion) overlap() time.Duration {
	if d.spec.Immediate {
		return 0
	}
	return d.spec.Overlap
}

// mustAccept says whether refusing the secret at now loses a delivery that people were promised.
func (d *demotion) mustAccept(now time.Time, doubt time.Duration) bool {
	end := d.looked.Add(d.overlap() + spare)
	if !d.seen.IsZero() {
		end = d.seen.Add(d.overlap())
	}
	for _, limit := range []time.Time{d.spec.PreviousNotAfter, d.lapse} {
		if !limit.IsZero() && limit.Before(end) {
			end = limit
		}
	}
	return now.Before(end.Add(-doubt))
}

// mustRefuse says whether accepting the secret at now is too long.
func (d *demotion) mustRefuse(now time.Time, doubt time.Duration) bool {
	end := d.looked.Add(d.longest + rotation.Slack)
	if !d.seen.IsZero() {
		end = d.seen.Add(d.overlap())
		if d.kept.After(end) {
			end = d.kept
		}
	}
	return d.over || now.After(end.Add(doubt+late))
}

// keep follows the use of a secret that is kept while it is used.
func (d *demotion) keep(now time.Time) {
	if d.spec.Retire != rotation.WhenUnused || d.spec.Immediate || d.seen.IsZero() {
		d.kept = time.Time{}
		return
	}
	if unused := d.used.Add(d.overlap()); unused.After(d.kept) {
		d.kept = unused
	}
	for _, most := range []time.Time{d.seen.Add(max(d.spec.MaxOverlap, d.overlap())), now.Add(d.overlap() + 2*skew)} {
		if most.Before(d.kept) {
			d.kept = most
		}
	}
}

// promoted notes that a secret has become current.
func (m *model) promoted(secret string, by *asked, now time.Time, revision int64) {
	m.former[m.current] = &demotion{by: by, revision: revision, since: m.since, spec: by.spec, looked: now, longest: by.spec.Overlap}
	delete(m.former, secret)
	delete(m.told, secret)
	m.done[by.spec.Name] = append(m.done[by.spec.Name], secret)
	m.current, m.since = secret, revision
}

// looked notes that an operator has looked after a rotation, and what it saw.
func (m *model) looked(by *asked, now time.Time, everywhere func(revision int64) bool) {
	for _, d := range m.former {
		if d.by != by {
			continue
		}
		if before := d.seen.Add(d.overlap()); !d.seen.IsZero() && before.After(d.kept) {
			// A shorter overlap does not end what may stand because of a use that has been forgotten; see keep for how far.
			d.kept = before
		}
		d.looked, d.spec = now, by.spec
		d.longest = max(d.longest, d.overlap())
		if d.seen.IsZero() && everywhere(d.revision) {
			d.seen = now
		}
		d.keep(now)
	}
}
