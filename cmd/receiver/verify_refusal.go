// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Causes for which a receiver refuses a request whatever its signature is worth.
const (
	causeEncoding   = "unsupported_encoding"
	causeTooLarge   = "body_too_large"
	causeIncomplete = "incomplete_body"
)

// refusal is why a receiver does not look at a signature, and the same in plain words.
type refusal struct{ cause, explanation string }

// refuse says, in the order of the receivers, whether they would refuse the request. The length is what Content-Length declares,
// or -1.
func (c *capture) refuse(header http.Header, declared int64, body []byte) *refusal {
	size := max(declared, int64(len(body)))
	switch {
	case !isIdentity(header.Values("Content-Encoding")):
		return &refusal{causeEncoding, "it has a Content-Encoding other than identity, and the receivers decompress nothing: " +
			"let the sender, or the proxy that compresses, send the body as it is"}
	case size > c.endpoint.MaxBodyBytes:
		return &refusal{causeTooLarge, fmt.Sprintf("the body has %d bytes, and the endpoint reads at most %d: "+
			"set limits.maxBodyBytes to more", size, c.endpoint.MaxBodyBytes)}
	case int64(len(body)) < declared:
		return &refusal{causeIncomplete, fmt.Sprintf("the body has %d bytes, and Content-Length says %d: "+
			"a part of it is missing, or its line ends were changed", len(body), declared)}
	}
	return nil
}

// isIdentity says whether the body is sent as it is.
func isIdentity(encodings []string) bool {
	for _, value := range encodings {
		if trimmed := strings.TrimSpace(value); trimmed != "" && !strings.EqualFold(trimmed, "identity") {
			return false
		}
	}
	return true
}

// warnOfPath says that the request was sent to another path than the endpoint's. A proxy may rewrite paths, so it is refused by
// none of the commands.
func (c *capture) warnOfPath(sent *url.URL) {
	path := sent.EscapedPath()
	if c.endpoint.Path == "" || path == c.endpoint.Path {
		return
	}
	if public, err := url.Parse(c.endpoint.PublicURL); err == nil && public.Host != "" && public.EscapedPath() == path {
		return
	}
	c.warnings = append(c.warnings, fmt.Sprintf("it was sent to another path than %s: the receivers answer that with 404, "+
		"unless a proxy before them rewrites it", c.endpoint.Path))
}
