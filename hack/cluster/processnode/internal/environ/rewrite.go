// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package environ

import (
	"path"
	"slices"
	"strings"
)

// Mount says which folder of this machine stands for a container's mount path.
type Mount struct {
	Path string
	Dir  string
}

// Rewriter puts the folders of this machine in the place of mount paths. A process has no mount
// namespace, so that it must be told where its mounts really are.
type Rewriter struct {
	mounts []Mount
}

// NewRewriter makes a rewriter for the mounts of one container.
func NewRewriter(mounts []Mount) Rewriter {
	sorted := make([]Mount, 0, len(mounts))
	for _, mount := range mounts {
		sorted = append(sorted, Mount{Path: path.Clean(mount.Path), Dir: mount.Dir})
	}
	// The longest first: a mount inside another mount wins.
	slices.SortStableFunc(sorted, func(a, b Mount) int { return len(b.Path) - len(a.Path) })
	return Rewriter{mounts: sorted}
}

// Rewrite replaces a mount path at the start of the text and after each '=', where a whole path
// element ends with it: "--dir=/etc/x/y" is rewritten for the mount /etc/x, "--dir=/etc/xy" is
// not. Paths elsewhere in the text, and in files, are left alone.
func (r Rewriter) Rewrite(text string) string {
	parts := strings.SplitAfter(text, "=")
	for i, part := range parts {
		parts[i] = r.rewriteStart(part)
	}
	return strings.Join(parts, "")
}

func (r Rewriter) rewriteStart(text string) string {
	for _, mount := range r.mounts {
		rest, found := strings.CutPrefix(text, mount.Path)
		if found && endsElement(rest) {
			return mount.Dir + rest
		}
	}
	return text
}

// endsElement reports whether what follows a path does not continue its last element.
func endsElement(rest string) bool {
	if rest == "" {
		return true
	}
	c := rest[0]
	inName := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '.' || c == '_' || c == '-' || c >= 0x80
	return !inName
}
