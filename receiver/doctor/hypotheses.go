// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"iter"
	"slices"

	"github.com/hookonce/hookonce/receiver"
)

// Hypothesis is one suspicion.
type Hypothesis struct {
	// Name is a word for programs; Tries says for people what is tried.
	Name, Tries string
	// propose makes one proposal after the other, so that no more bodies are held than are judged.
	propose func(a attempt, c Case) iter.Seq[proposal]
}

// listed is for proposals that are small: all of them are made at once.
func listed(propose func(a attempt, c Case) []proposal) func(attempt, Case) iter.Seq[proposal] {
	return func(a attempt, c Case) iter.Seq[proposal] { return slices.Values(propose(a, c)) }
}

// Hypotheses are tried in this order; each is independent of the others.
var Hypotheses = slices.Concat(secretHypotheses, keyHypotheses, headerHypotheses, signatureHypotheses, bodyHypotheses, urlHypotheses)

// explanations say what the causes of rejections mean.
var explanations = map[string]string{
	receiver.CauseNoSecret:         "there is no secret that can be used",
	receiver.CauseUnusableScheme:   "the scheme cannot be verified with",
	receiver.CauseMissingHeader:    "the header of the signature or of the timestamp is missing or blank",
	receiver.CauseDuplicateHeader:  "a header that the scheme reads is there more than once",
	receiver.CauseMalformedHeader:  "the signature's header breaks its grammar: an empty element, two timestamps, or too many elements",
	receiver.CauseMissingSignature: "the signature's header has no element with the scheme's prefix",
	receiver.CauseMissingTimestamp: "the signature's header has no timestamp",
	receiver.CauseBadTimestamp:     "the timestamp is not a plain decimal number",
	receiver.CauseTimestampUnit:    "the timestamp is in another unit than the scheme's",
	receiver.CauseStaleTimestamp:   "the timestamp is further in the past than the tolerance",
	receiver.CauseFutureTimestamp:  "the timestamp is further in the future than the tolerance",
	receiver.CauseBadSignature:     "no signature was made with a known secret over these bytes",
	receiver.CauseExpiredSecret:    "it was signed with a secret that is accepted no more",
	receiver.CauseMalformedBody:    "the body is not JSON, or has a member that is read twice",
	receiver.CauseMissingEventID:   "the event has no id where the scheme looks for it",
	receiver.CauseBadEventID:       "the event id is not 1 to 255 visible ASCII characters, or contains what is signed after it",
	receiver.CauseBadResourceID:    "the resource id is neither a text of at most 255 bytes nor a natural number",
	receiver.CauseBadHandshake:     "the handshake asks with a token or an origin that the endpoint does not know",
	receiver.CauseNoPublicURL:      "the scheme signs the URL, and the endpoint does not know its own: set exposure.url, or exposure.host",
}
