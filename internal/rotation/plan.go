// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

const (
	// Slack is how much longer than the overlap a former secret's provisional ceiling is. It is what a slow propagation
	// may take while no operator looks.
	Slack = time.Hour
	// minSlack is when the ceiling moves: at less than this beyond the overlap.
	minSlack = 30 * time.Minute
	// doubt is how far the clocks of operators and receivers may be apart. A secret whose deadline is nearer than this may
	// be refused already somewhere, so only a person's edit moves it further away.
	doubt = 10 * time.Minute
	// OverdueAfter is how long a propagation may take before people are warned, and later rotations no longer wait for it.
	OverdueAfter = 5 * time.Minute
	// youngFor is how long a new rotation looks often for what it needs and is not there.
	youngFor = time.Minute
	// usePrecision is how exactly the last use of a former secret is shown while it goes on.
	usePrecision = 5 * time.Minute
)

// Spec is the rotation that is asked for.
type Spec struct {
	// UID of the SecretRotation: what its traces in the keyring are found by.
	UID string
	// Name and Created order it among its siblings.
	Name    string
	Created time.Time
	// Endpoint is the name of the WebhookEndpoint, and Source that of the new secret, for people.
	Endpoint string
	Source   keyring.Source
	// Overlap is how long the former secret is accepted after full propagation.
	Overlap time.Duration
	// PreviousNotAfter caps the former secret's deadline; zero for no cap.
	PreviousNotAfter time.Time
	// Immediate refuses and revokes the former secret at full propagation, whatever the overlap.
	Immediate bool
	// Retire is when the former secret's time is over, and MaxOverlap for how long after full propagation it is accepted at
	// most with WhenUnused: DefaultMaxOverlap if it is zero, and never less than Overlap.
	Retire     Retire
	MaxOverlap time.Duration
	// MinOverlap is the least overlap that the endpoint's scheme needs, and MinOverlapReason says why, as the end of a
	// sentence. A rotation with less is Rejected before it starts, unless it is Immediate.
	MinOverlap       time.Duration
	MinOverlapReason string
	// Intervals of looking again.
	Intervals Intervals
}

// Intervals are how long to wait before looking again.
type Intervals struct {
	// Propagation is for receivers that are loading a keyring.
	Propagation time.Duration
	// Status is for the use of the former secret, and for receivers that are overdue.
	Status time.Duration
	// Secret is for Secrets and endpoints that are missing or wrong.
	Secret time.Duration
}

// Observed is what the rotation depends on, as it was just read.
type Observed struct {
	// EndpointFound says whether the WebhookEndpoint exists, EndpointSuspended whether its spec forbids changes.
	EndpointFound     bool
	EndpointSuspended bool
	// Keyring of the endpoint; nil if there is none.
	Keyring *keyring.Keyring
	// Secret is what the new secret resolved to.
	Secret Secret
	// Receivers of the endpoint.
	Receivers []Receiver
	// Siblings are the other rotations of the endpoint.
	Siblings []Sibling
	// Recorded is what the rotation's status says; the keyring wins where they differ.
	Recorded Recorded
}

// Usability says whether a Secret holds a secret.
type Usability int

// What a Secret may resolve to.
const (
	// Missing secrets may still come.
	Missing Usability = iota
	// Unusable secrets are there and cannot be a key.
	Unusable
	// Usable secrets are there.
	Usable
)

// Secret is what the new secret resolved to.
type Secret struct {
	Usability Usability
	// Reason is a CamelCase word and Problem a sentence that names the Secret and the key, never the value; for secrets that
	// are not Usable.
	Reason  string
	Problem string
	// Key is the decoded key and Text the secret's text without a trailing line break; for Usable secrets.
	Key  keyring.Sensitive
	Text keyring.Sensitive
}

// Receiver is what one receiver says.
type Receiver struct {
	// Ready says whether it gets deliveries: only such receivers are waited for.
	Ready bool
	// Answered says whether it could be asked; one that could not has loaded nothing.
	Answered bool
	// Revision of the keyring that it has loaded.
	Revision int64
	// LastUsed tells for each secret that it knows, by full fingerprint, when it last verified a delivery; zero for never.
	LastUsed map[string]time.Time
}

// Recorded is what the status of a rotation says.
type Recorded struct {
	// State and Message are those of the condition Ready.
	State   State
	Message string
	// Propagated and PreviousRetired say whether these conditions are True.
	Propagated      bool
	PreviousRetired bool

	Start          time.Time
	PropagatedTime time.Time
	OverlapEnd     time.Time
	Completion     time.Time
	LastOldUse     time.Time
	// Current and Previous are short fingerprints.
	Current  string
	Previous string
}

// Decision is what to do and what to tell.
type Decision struct {
	// Keyring to write; nil if it stays as it is. The rest of the decision holds once it is written.
	Keyring *keyring.Keyring
	// Evicted are the short fingerprints of secrets that had to make room before their time.
	Evicted []string

	State State
	// Reason is a CamelCase word that says more than the state, such as SecretNotFound; the state itself if there is no more
	// to say.
	Reason string
	// Message says what is the case and what to do next. It has no times or counts that change by themselves.
	Message string

	// Propagated says that every ready receiver had the new secret.
	Propagated bool
	// OverlapActive says that the former secret is accepted.
	OverlapActive bool
	// PreviousRetired says that the former secret is gone everywhere.
	PreviousRetired bool

	// Start, PropagatedTime, OverlapEnd and Completion are zero as long as they have not happened or are not known.
	Start          time.Time
	PropagatedTime time.Time
	OverlapEnd     time.Time
	Completion     time.Time
	// LastOldUse is when a delivery last verified with the former secret, to the second; zero if none did.
	LastOldUse time.Time
	// OldInUse says that the provider still signs with the former secret though its time is nearly over, or is over and
	// prolonged; OldInUseMessage says what to do about it, and is empty otherwise.
	OldInUse        bool
	OldInUseMessage string
	// Current and Previous are the short fingerprints of the new and the former secret.
	Current  string
	Previous string
	// Updated of Ready receivers have what this state waits for. Both are -1 if no receiver matters.
	Updated int
	Ready   int

	// WakeAfter is when to look again; zero for never, unless something changes.
	WakeAfter time.Duration
}

// Finished says whether nothing more will happen.
func (d Decision) Finished() bool { return !d.Completion.IsZero() }

// Settled says whether nothing that may be observed changes a rotation any more, so that nothing needs to be. One that is
// over and is to revoke now may have something to revoke.
func Settled(spec Spec, was Recorded) bool {
	return !was.Completion.IsZero() && (was.State == Revoked || !spec.Immediate)
}

// Plan decides the next step of a rotation at now.
func Plan(now time.Time, spec Spec, seen Observed) Decision {
	p := &planner{now: now, spec: spec, seen: seen, ring: seen.Keyring}
	p.out = Decision{
		Start:          seen.Recorded.Start,
		PropagatedTime: seen.Recorded.PropagatedTime,
		OverlapEnd:     seen.Recorded.OverlapEnd,
		LastOldUse:     seen.Recorded.LastOldUse,
		Current:        seen.Recorded.Current,
		Previous:       seen.Recorded.Previous,
		Updated:        -1,
		Ready:          -1,
	}
	switch {
	case !seen.Recorded.Completion.IsZero() && !p.reopens():
		p.finished()
	case Started(seen.Keyring, spec.UID):
		p.follow()
	default:
		p.begin()
	}
	if p.ring != seen.Keyring {
		p.out.Keyring = p.ring
	}
	return p.out
}
