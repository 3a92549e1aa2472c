// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/url"
	"slices"
	"strings"
)

// bodyReserialized is the name of the hypothesis that is left out for large bodies.
const bodyReserialized = "BodyReserialized"

const (
	// maxInflated bounds what a compressed body may become, in bytes.
	maxInflated = 32 << 20
	// maxRewritten is the size of the largest body whose JSON is written anew, in bytes. There are 120 ways to do that.
	maxRewritten = 1 << 20
	// maxWritten is the size of the largest rewriting, in bytes: indentation makes much of a deep document.
	maxWritten = 8 << 20
)

// bodyHypotheses: the bytes that are judged are not those that were signed.
var bodyHypotheses = []Hypothesis{
	editBody("BodyTrailingNewline", "the body with and without a line break at its end",
		"a line break at the end of the body was added or lost: pass on the bytes as they arrived",
		func(body []byte) []byte { return bytes.TrimRight(body, "\r\n") },
		func(body []byte) []byte { return add(body, "\n") },
		func(body []byte) []byte { return add(body, "\r\n") },
		func(body []byte) []byte { return bytes.TrimSuffix(body, []byte("\n")) }),
	editBody("BodyLineEnds", "the body with \\n and with \\r\\n", "the line ends of the body were changed: pass on the bytes as they arrived",
		plainEnds, windowsEnds,
		func(body []byte) []byte { return bytes.TrimRight(plainEnds(body), "\n") },
		func(body []byte) []byte { return bytes.TrimRight(windowsEnds(body), "\r\n") }),
	editBody("BodyByteOrderMark", "the body with and without a byte order mark",
		"a byte order mark was put before the body, or lost: pass on the bytes as they arrived",
		func(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\ufeff")) },
		func(body []byte) []byte { return append([]byte("\ufeff"), body...) }),
	editBody("BodyBlanks", "the body without blanks around it", "blanks around the body were added: pass on the bytes as they arrived",
		func(body []byte) []byte { return bytes.TrimSpace(body) }),
	editBody("BodyBase64", "the body decoded from base64",
		"the body is base64 of the body, as some gateways hand it on: decode it before it is verified",
		func(body []byte) []byte {
			decoded, err := base64.RawStdEncoding.DecodeString(plainBase64(strings.TrimSpace(string(body))))
			if err != nil {
				return nil
			}
			return decoded
		}),
	editBody("BodyQuoted", "the body as the text of a JSON string", "the body was encoded as a JSON string: pass on the bytes as they arrived",
		func(body []byte) []byte {
			var text string
			if json.Unmarshal(body, &text) != nil {
				return nil
			}
			return []byte(text)
		}),
	editBody("BodyCompressed", "the body uncompressed",
		"the body is compressed, and the signature is over the plain one: turn the compression off",
		func(body []byte) []byte {
			reader, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return nil
			}
			plain, err := io.ReadAll(io.LimitReader(reader, maxInflated))
			if err != nil {
				return nil
			}
			return plain
		}),
	editBody("BodyForm", "the body as a form",
		"the form was taken apart, and the signature is over the whole of it: pass on the bytes as they arrived",
		func(body []byte) []byte { return []byte("payload=" + url.QueryEscape(string(body))) }),
	{
		bodyReserialized,
		"the JSON of the body written anew: compact, indented, with blanks, with sorted names, with and without escapes", reserialized,
	},
	editBody("BodyEmpty", "no body",
		"the signature is over an empty body: the sender signs before it has the body, or somebody read it before it was verified",
		func([]byte) []byte { return []byte{} }),
}

func add(body []byte, end string) []byte { return slices.Concat(body, []byte(end)) }

func plainEnds(body []byte) []byte { return bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")) }

func windowsEnds(body []byte) []byte {
	return bytes.ReplaceAll(plainEnds(body), []byte("\n"), []byte("\r\n"))
}

// editBody tries each of the edits; one that returns nil has nothing to try.
func editBody(name, tries, message string, edits ...func(body []byte) []byte) Hypothesis {
	return Hypothesis{name, tries, func(a attempt, _ Case) iter.Seq[proposal] {
		return func(yield func(proposal) bool) {
			for _, edit := range edits {
				if body := edit(a.request.Body); body != nil && !yield(proposal{a.withBody(body), -1, message}) {
					return
				}
			}
		}
	}}
}

// reserialized writes the body's JSON as the libraries of many languages do. What it yields is written over by what comes
// next: at any time there is one rewriting.
func reserialized(a attempt, _ Case) iter.Seq[proposal] {
	return func(yield func(proposal) bool) {
		if len(a.request.Body) > maxRewritten {
			return
		}
		document, err := parseDocument(a.request.Body)
		if err != nil {
			return
		}
		var out bytes.Buffer
		for style := range styles {
			if !document.write(&out, style) {
				continue
			}
			message := fmt.Sprintf("the body was parsed and written anew: the signature is over %s. "+
				"Pass on the bytes as they arrived, or let the sender sign the bytes that it sends", style)
			if !yield(proposal{a.withBody(out.Bytes()), -1, message}) {
				return
			}
			out.WriteByte('\n')
			if !yield(proposal{a.withBody(out.Bytes()), -1, message}) {
				return
			}
		}
	}
}

// aboutSize says what is not tried with a large body.
func aboutSize(a attempt) []string {
	if len(a.request.Body) <= maxRewritten {
		return nil
	}
	return []string{fmt.Sprintf("the body has %d bytes, more than %d: whether its JSON was parsed and written anew was not tried; "+
		"capture a smaller delivery to find out", len(a.request.Body), maxRewritten)}
}
