// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"maps"
	"slices"
)

// Clone returns a copy that shares nothing with the scheme.
func (s Scheme) Clone() Scheme {
	s.Signature.Path = slices.Clone(s.Signature.Path)
	s.HeaderAliases = maps.Clone(s.HeaderAliases)
	if s.Timestamp != nil {
		timestamp := *s.Timestamp
		s.Timestamp = &timestamp
	}
	if s.Batch != nil {
		batch := *s.Batch
		batch.Path = slices.Clone(batch.Path)
		s.Batch = &batch
	}
	s.EventID = cloneSources(s.EventID)
	s.EventType = cloneSources(s.EventType)
	s.ResourceID = cloneSources(s.ResourceID)
	s.Handshakes = slices.Clone(s.Handshakes)
	for i := range s.Handshakes {
		s.Handshakes[i].Origins = slices.Clone(s.Handshakes[i].Origins)
	}
	return s
}

func cloneSources(sources []Source) []Source {
	copies := slices.Clone(sources)
	for i := range copies {
		copies[i].Path = slices.Clone(copies[i].Path)
		copies[i].Compose = cloneSources(copies[i].Compose)
	}
	return copies
}

// Equal says whether two schemes are the same in every field. It allocates nothing, so that what is made of a scheme can be
// kept for as long as requests come with the same one.
func (s *Scheme) Equal(other *Scheme) bool {
	return s.Name == other.Name &&
		equalSignatures(&s.Signature, &other.Signature) &&
		maps.Equal(s.HeaderAliases, other.HeaderAliases) &&
		s.StringToSign == other.StringToSign &&
		s.Key == other.Key &&
		equalPointers(s.Timestamp, other.Timestamp, func(a, b *Timestamp) bool { return *a == *b }) &&
		slices.EqualFunc(s.EventID, other.EventID, equalSources) &&
		slices.EqualFunc(s.EventType, other.EventType, equalSources) &&
		slices.EqualFunc(s.ResourceID, other.ResourceID, equalSources) &&
		s.EventIDSigned == other.EventIDSigned &&
		s.BodyReuse == other.BodyReuse &&
		s.FormField == other.FormField &&
		s.FormObject == other.FormObject &&
		equalPointers(s.Batch, other.Batch, equalBatches) &&
		slices.EqualFunc(s.Handshakes, other.Handshakes, equalHandshakes) &&
		s.Acknowledgment == other.Acknowledgment &&
		s.Behavior == other.Behavior
}

func equalPointers[T any](a, b *T, equal func(a, b *T) bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equal(a, b)
}

func equalSignatures(a, b *Signature) bool {
	return a.Header == b.Header && slices.Equal(a.Path, b.Path) && a.Separator == b.Separator && a.Prefix == b.Prefix &&
		a.Encoding == b.Encoding && a.Algorithm == b.Algorithm
}

func equalBatches(a, b *Batch) bool { return slices.Equal(a.Path, b.Path) && a.Member == b.Member }

func equalSources(a, b Source) bool {
	return a.Header == b.Header && slices.Equal(a.Path, b.Path) && slices.EqualFunc(a.Compose, b.Compose, equalSources) &&
		a.BodyDigest == b.BodyDigest && a.PerRequest == b.PerRequest
}

func equalHandshakes(a, b Handshake) bool {
	return a.Kind == b.Kind && a.VerifyToken == b.VerifyToken && slices.Equal(a.Origins, b.Origins)
}
