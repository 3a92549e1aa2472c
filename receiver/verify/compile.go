// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"hash"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"

	"github.com/hookonce/hookonce/internal/scheme"
)

// Verifier verifies with one scheme. It holds what can be worked out before a request comes, never changes, and may be
// used by many goroutines.
type Verifier struct {
	scheme scheme.Scheme
	usable bool

	newHash  func() hash.Hash // of an HMAC
	size     int              // of a signature, in bytes
	own      names
	alias    *names // nil if the scheme has one name for each header
	shared   bool   // the timestamp is an element of the signature's header
	parts    []part
	bodyAt   int // the index of {body} in parts; len(parts) if the body is not signed as it is
	signsURL bool
	signsID  bool
	form     bool // {form} is signed

	tree                 *node
	paths, nodes         int // how many values and nodes the tree has
	ids, types, subjects []source
	signature            int // the index of an item's signature
	handshakes           handshakes

	pool sync.Pool
}

// names are the canonical names of the headers that are read.
type names struct {
	signature, timestamp, id string
	// all of them, each once.
	all []string
	// alias says which of source.header is meant.
	alias int
}

// part is one piece of the string to sign.
type part struct {
	scheme.Part
	// index of the value of an item's member.
	index int
	// stop is the text at which the value ends or, behind, begins; empty if its length is known otherwise.
	stop   string
	behind bool
}

// source is one place of a value.
type source struct {
	// header by its own name and by its alias; empty if the source is no header.
	header [2]string
	// index of a path's value; -1 if the source is no path.
	index      int
	compose    []source
	bodyDigest bool
	perRequest bool
}

// New makes a Verifier. One of a scheme that scheme.Validate refuses rejects everything with CauseUnusableScheme.
func New(s scheme.Scheme) *Verifier {
	v := &Verifier{scheme: s.Clone()}
	if scheme.Validate(s) != nil {
		return v
	}
	v.newHash, v.size = hashOf(s.Signature.Algorithm)
	v.own = v.readNames(0)
	if len(s.HeaderAliases) > 0 {
		alias := v.readNames(1)
		v.alias = &alias
	}
	v.shared = s.Timestamp != nil && canonical(s.Timestamp.Header) == canonical(s.Signature.Header)
	v.tree = &node{index: -1}
	v.ids, v.types, v.subjects = v.sources(s.EventID), v.sources(s.EventType), v.sources(s.ResourceID)
	if len(s.Signature.Path) > 0 {
		v.signature = v.value(s.Signature.Path)
	}
	v.compileParts()
	v.compileHandshakes()
	v.signsURL, v.signsID, v.form = s.Signs(scheme.PlaceholderURL), s.Signs(scheme.PlaceholderID), s.Signs(scheme.PlaceholderForm)
	v.pool.New = func() any { return v.newScratch() }
	v.usable = true
	return v
}

func canonical(header string) string { return textproto.CanonicalMIMEHeaderKey(header) }

// nameOf is the header's own name, or with alias 1 the one that stands for it.
func (v *Verifier) nameOf(header string, alias int) string {
	if alias == 1 {
		for own, other := range v.scheme.HeaderAliases {
			if strings.EqualFold(own, header) {
				return canonical(other)
			}
		}
	}
	return canonical(header)
}

func (v *Verifier) readNames(alias int) names {
	n := names{signature: v.nameOf(v.scheme.Signature.Header, alias), alias: alias}
	n.all = append(n.all, n.signature)
	if v.scheme.Timestamp != nil {
		n.timestamp = v.nameOf(v.scheme.Timestamp.Header, alias)
		n.all = append(n.all, n.timestamp)
	}
	if len(v.scheme.EventID) > 0 {
		n.id = v.nameOf(v.scheme.EventID[0].Header, alias)
	}
	for _, sources := range [][]scheme.Source{v.scheme.EventID, v.scheme.EventType, v.scheme.ResourceID} {
		for _, source := range sources {
			for _, leaf := range append([]scheme.Source{source}, source.Compose...) {
				n.all = append(n.all, v.nameOf(leaf.Header, alias))
			}
		}
	}
	slices.Sort(n.all)
	n.all = slices.DeleteFunc(slices.Compact(n.all), func(name string) bool { return name == "" })
	return n
}

// namesIn returns the names that the request uses: the aliases only where the signature has its alias alone.
func (v *Verifier) namesIn(header http.Header) *names {
	if v.alias != nil && len(header[v.own.signature]) == 0 && len(header[v.alias.signature]) > 0 {
		return v.alias
	}
	return &v.own
}

func (v *Verifier) sources(list []scheme.Source) []source {
	out := make([]source, 0, len(list))
	for _, s := range list {
		one := source{index: -1, bodyDigest: s.BodyDigest, perRequest: s.PerRequest, compose: v.sources(s.Compose)}
		if s.Header != "" {
			one.header = [2]string{v.nameOf(s.Header, 0), v.nameOf(s.Header, 1)}
		}
		if len(s.Path) > 0 {
			one.index = v.value(s.Path)
		}
		out = append(out, one)
	}
	return out
}

// value puts a path into the tree and returns the index of its value.
func (v *Verifier) value(path []string) int {
	n := v.tree
	for _, name := range path {
		at := slices.IndexFunc(n.children, func(child *node) bool { return child.name == name })
		if at < 0 {
			at = len(n.children)
			n.children = append(n.children, &node{name: name, index: -1, id: v.nodes})
			v.nodes++
		}
		n = n.children[at]
	}
	if n.index < 0 {
		n.index = v.paths
		v.paths++
	}
	return n.index
}

func (v *Verifier) compileParts() {
	parts, err := scheme.ParseStringToSign(v.scheme.StringToSign)
	if err != nil {
		return // Validate has parsed it.
	}
	free := slices.IndexFunc(parts, func(p scheme.Part) bool {
		return p.Free || p.Placeholder == scheme.PlaceholderBody || p.Placeholder == scheme.PlaceholderForm
	})
	if free < 0 {
		free = len(parts)
	}
	v.bodyAt = len(parts)
	for i, p := range parts {
		one := part{Part: p, index: -1, behind: i > free}
		switch p.Placeholder {
		case scheme.PlaceholderBody:
			v.bodyAt = i
		case scheme.PlaceholderItem:
			one.index = v.value(p.Path)
		}
		switch {
		case i < free && i+1 < len(parts):
			one.stop = parts[i+1].Literal
		case i > free:
			one.stop = parts[i-1].Literal
		}
		v.parts = append(v.parts, one)
	}
}
