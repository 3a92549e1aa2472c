// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
)

// judge goes through every version of the keyring and of the rotations, in the order in which the API server took them, and
// says what must not be: a secret that is lost before its time, a deadline that moved, a record that changed, a status that
// promises what the keyring does not hold.
type judge struct {
	// revokes says that the step refuses a former secret before its time.
	revokes  bool
	ring     *keyring.Keyring
	statuses map[string]v1alpha1.SecretRotationStatus
	breaches []string
}

func newJudge() *judge { return &judge{statuses: map[string]v1alpha1.SecretRotationStatus{}} }

// hear takes the versions of one step, and returns what was wrong.
func (j *judge) hear(step step, history []version) []string {
	j.revokes, j.breaches = step.revokes, nil
	slices.SortStableFunc(history, func(a, b version) int { return cmp.Compare(number(a), number(b)) })
	for _, v := range history {
		switch {
		case v.key == keyringKey:
			j.keyring(v)
		case v.resource == rotations:
			j.rotation(v)
		}
	}
	return j.breaches
}

// number is that of a version among all of the API server's.
func number(v version) int64 {
	n, err := strconv.ParseInt(v.object.GetResourceVersion(), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (j *judge) say(v version, format string, args ...any) {
	j.breaches = append(j.breaches, fmt.Sprintf("%s %s: %s", v.resource, v.name, fmt.Sprintf(format, args...)))
}

// keyring compares a version of the keyring with the one before.
func (j *judge) keyring(v version) {
	if v.removed {
		j.ring = nil
		return
	}
	was := j.ring
	is, err := ringOf(v.object)
	if err != nil {
		j.say(v, "%v", err)
		return
	}
	if j.ring = is; was == nil {
		return
	}
	if !bytes.Equal(was.Salt, is.Salt) {
		j.say(v, "it was made anew")
		return
	}
	// One write may hold several changes, each with its revision.
	if is.Revision <= was.Revision {
		j.say(v, "revision %d follows %d", is.Revision, was.Revision)
	}
	for _, entry := range was.Accepted(v.at) {
		j.entry(v, entry, is)
	}
	for _, tombstone := range was.Tombstones {
		same := func(t keyring.Tombstone) bool {
			return t.Fingerprint == tombstone.Fingerprint && t.Reason == tombstone.Reason && t.Time.Equal(tombstone.Time)
		}
		if !slices.ContainsFunc(is.Tombstones, same) && is.Current.Fingerprint != tombstone.Fingerprint {
			j.say(v, "a tombstone has changed or is gone")
		}
	}
}

// entry says what has become of a secret that was accepted.
func (j *judge) entry(v version, was keyring.Entry, ring *keyring.Keyring) {
	is, found := ring.Find(was.Fingerprint)
	if !found {
		revoked := slices.ContainsFunc(ring.Tombstones, func(t keyring.Tombstone) bool {
			return t.Fingerprint == was.Fingerprint && t.Reason == keyring.Revoked
		})
		switch {
		case !j.revokes || !revoked:
			j.say(v, "a secret is lost that is accepted until %s", was.NotAfter)
		case v.loaded < was.ReplacedRevision || was.ReplacedRevision == 0:
			j.say(v, "a secret was revoked before every receiver had its successor")
		}
		return
	}
	switch current := is.Fingerprint == ring.Current.Fingerprint; {
	case current && was.NotAfter.IsZero():
		if !is.Added.Equal(was.Added) {
			j.say(v, "the current secret became so at %s, before it was %s", is.Added, was.Added)
		}
	case current:
		// A former secret is current again.
	case was.NotAfter.IsZero():
		if !is.AcceptedAt(v.at.Add(provisional)) {
			j.say(v, "a secret that was current is refused from %s", is.NotAfter)
		}
	case was.Final && (!is.Final || !is.NotAfter.Equal(was.NotAfter) || !is.OverlapStart.Equal(was.OverlapStart)):
		j.say(v, "a deadline moved from %s to %s", was.NotAfter, is.NotAfter)
	case !was.Final && !is.Final && !is.NotAfter.Equal(was.NotAfter):
		j.say(v, "a provisional deadline moved from %s to %s", was.NotAfter, is.NotAfter)
	}
}

// rotation compares a status with the one before, and with the keyring as it was when the status was written.
func (j *judge) rotation(v version) {
	if v.removed {
		delete(j.statuses, v.name)
		return
	}
	object := &v1alpha1.SecretRotation{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(v.object.Object, object); err != nil {
		j.say(v, "%v", err)
		return
	}
	was, is := j.statuses[v.name], object.Status
	j.statuses[v.name] = is
	for _, record := range []struct{ name, was, is string }{
		{"startTime", shown(was.StartTime), shown(is.StartTime)},
		{"propagatedTime", shown(was.PropagatedTime), shown(is.PropagatedTime)},
		{"completionTime", shown(was.CompletionTime), shown(is.CompletionTime)},
		{"currentFingerprint", was.CurrentFingerprint, is.CurrentFingerprint},
		{"previousFingerprint", was.PreviousFingerprint, is.PreviousFingerprint},
	} {
		if record.was != "" && record.was != record.is {
			j.say(v, "%s was %s and is %q", record.name, record.was, record.is)
		}
	}
	propagated := was.PropagatedTime != nil
	if propagated && is.OverlapEndTime != "" && was.OverlapEndTime != "" && is.OverlapEndTime != was.OverlapEndTime && !j.revokes {
		j.say(v, "overlapEndTime moved from %s to %s", was.OverlapEndTime, is.OverlapEndTime)
	}
	if is.OverlapEndTime != was.OverlapEndTime || accepts(is) != accepts(was) {
		j.promise(v, object)
	}
}

// accepts says whether a status says that two secrets are accepted.
func accepts(status v1alpha1.SecretRotationStatus) bool {
	return meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionOverlapActive)
}

// promise compares what a status says that it did not say before with the keyring.
func (j *judge) promise(v version, object *v1alpha1.SecretRotation) {
	if object.Status.StartTime == nil || object.Status.CompletionTime != nil || j.ring == nil {
		return
	}
	if !accepts(object.Status) {
		return
	}
	former, ok := j.ring.ReplacedBy(string(object.UID))
	if !ok {
		j.say(v, "the status says that two secrets are accepted, the keyring has one")
		return
	}
	if end := former.NotAfter.UTC().Format(time.RFC3339); end != object.Status.OverlapEndTime {
		j.say(v, "the status says that the overlap ends %s, the keyring %s", object.Status.OverlapEndTime, end)
	}
}

func shown(at *metav1.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
