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
	"net/url"
	"slices"
	"strings"
)

// maxInflated bounds what a compressed body may become, in bytes.
const maxInflated = 32 << 20

// bodyHypotheses: the bytes that are judged are not those that were signed.
var bodyHypotheses = []Hypothesis{
	editBody("BodyTrailingNewline", "the body with and without a line break at its end",
		"a line break at the end of the body was added or lost: pass on the bytes as they arrived",
		func(body []byte) [][]byte {
			return [][]byte{bytes.TrimRight(body, "\r\n"), add(body, "\n"), add(body, "\r\n"), bytes.TrimSuffix(body, []byte("\n"))}
		}),
	editBody("BodyLineEnds", "the body with \\n and with \\r\\n", "the line ends of the body were changed: pass on the bytes as they arrived",
		func(body []byte) [][]byte {
			plain := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
			windows := bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\n"))
			return [][]byte{plain, windows, bytes.TrimRight(plain, "\n"), bytes.TrimRight(windows, "\r\n")}
		}),
	editBody("BodyByteOrderMark", "the body with and without a byte order mark",
		"a byte order mark was put before the body, or lost: pass on the bytes as they arrived",
		func(body []byte) [][]byte {
			return [][]byte{bytes.TrimPrefix(body, []byte("\ufeff")), append([]byte("\ufeff"), body...)}
		}),
	editBody("BodyBlanks", "the body without blanks around it", "blanks around the body were added: pass on the bytes as they arrived",
		func(body []byte) [][]byte { return [][]byte{bytes.TrimSpace(body)} }),
	editBody("BodyBase64", "the body decoded from base64",
		"the body is base64 of the body, as some gateways hand it on: decode it before it is verified",
		func(body []byte) [][]byte {
			decoded, err := base64.RawStdEncoding.DecodeString(plainBase64(strings.TrimSpace(string(body))))
			if err != nil {
				return nil
			}
			return [][]byte{decoded}
		}),
	editBody("BodyQuoted", "the body as the text of a JSON string", "the body was encoded as a JSON string: pass on the bytes as they arrived",
		func(body []byte) [][]byte {
			var text string
			if json.Unmarshal(body, &text) != nil {
				return nil
			}
			return [][]byte{[]byte(text)}
		}),
	editBody("BodyCompressed", "the body uncompressed",
		"the body is compressed, and the signature is over the plain one: turn the compression off",
		func(body []byte) [][]byte {
			reader, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return nil
			}
			plain, err := io.ReadAll(io.LimitReader(reader, maxInflated))
			if err != nil {
				return nil
			}
			return [][]byte{plain}
		}),
	editBody("BodyForm", "the body as a form",
		"the form was taken apart, and the signature is over the whole of it: pass on the bytes as they arrived",
		func(body []byte) [][]byte { return [][]byte{[]byte("payload=" + url.QueryEscape(string(body)))} }),
	{
		"BodyReserialized",
		"the JSON of the body written anew: compact, indented, with blanks, with sorted names, with and without escapes", reserialized,
	},
	editBody("BodyEmpty", "no body",
		"the signature is over an empty body: the sender signs before it has the body, or somebody read it before it was verified",
		func([]byte) [][]byte { return [][]byte{{}} }),
}

func add(body []byte, end string) []byte { return append(bytes.Clone(body), end...) }

func editBody(name, tries, message string, edits func(body []byte) [][]byte) Hypothesis {
	return Hypothesis{name, tries, func(a attempt, _ Case) []proposal {
		var out []proposal
		for _, body := range edits(a.request.Body) {
			out = append(out, proposal{a.withBody(body), -1, message})
		}
		return out
	}}
}

// reserialized writes the body's JSON as the libraries of many languages do.
func reserialized(a attempt, _ Case) []proposal {
	document, err := parseDocument(a.request.Body)
	if err != nil {
		return nil
	}
	var out []proposal
	for _, layout := range layouts {
		for _, escapes := range escapeStyles {
			for _, sorted := range []bool{false, true} {
				style := style{layout: layout, escapes: escapes, sorted: sorted}
				body := document.write(style)
				message := fmt.Sprintf("the body was parsed and written anew: the signature is over %s. "+
					"Pass on the bytes as they arrived, or let the sender sign the bytes that it sends", style)
				for _, candidate := range [][]byte{body, add(body, "\n")} {
					out = append(out, proposal{a.withBody(slices.Clone(candidate)), -1, message})
				}
			}
		}
	}
	return out
}
