// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/internal/manifest"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/doctor"
)

const (
	// maxCapture is how much of a captured request is read, in bytes.
	maxCapture = 64 << 20
	// maxSecretFile is the size of the largest file that is taken for a secret's, in bytes. Keys have at most 1024; the rest is
	// for what doctor finds around them.
	maxSecretFile = 64 << 10
	// maxNow is the last moment that is taken for one in seconds since 1970: year 5138. In milliseconds it is in 1973.
	maxNow = 99_999_999_999
)

// captureFlags say what a delivery is judged by.
type captureFlags struct {
	endpoint               string
	secretFiles, formerOne []string
	now                    int64
}

func (f *captureFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.endpoint, "endpoint", "", "file with the WebhookEndpoint, or with a receiver's config.json (required)")
	flags.StringArrayVar(&f.secretFiles, "secret-file", nil, "file with a signing secret that is accepted; may be repeated (required)")
	flags.StringArrayVar(&f.formerOne, "expired-secret-file", nil, "file with a signing secret that is accepted no more; may be repeated")
	flags.Int64Var(&f.now, "now", 0, "moment at which the request is judged, in seconds since 1970 (default: now)")
}

// capture is a captured request and what it is judged by.
type capture struct {
	endpoint *manifest.Endpoint
	secrets  []doctor.Secret
	request  *receiver.Request
	host     string
	now      time.Time
	// refused is why receivers refuse it before they look at the signature; nil if they do not.
	refused *refusal
	// warnings are what is odd about the capture.
	warnings []string
}

// read reads what the flags name, and the request from in. Every mistake is one of usage: nothing was judged.
func (f *captureFlags) read(in io.Reader) (*capture, error) {
	c, err := f.readAll(in)
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

func (f *captureFlags) readAll(in io.Reader) (*capture, error) {
	if f.endpoint == "" || len(f.secretFiles)+len(f.formerOne) == 0 {
		return nil, errors.New("--endpoint and --secret-file are required")
	}
	if f.now < 0 || f.now > maxNow {
		return nil, fmt.Errorf("--now %d is no moment in seconds since 1970: it must be from 1 to %d; milliseconds have three digits more",
			f.now, int64(maxNow))
	}
	c := &capture{now: time.Now()}
	if f.now != 0 {
		c.now = time.Unix(f.now, 0)
	}
	var err error
	if c.endpoint, err = readEndpoint(f.endpoint); err != nil {
		return nil, err
	}
	for i, file := range append(append([]string(nil), f.secretFiles...), f.formerOne...) {
		text, err := readSecret(file)
		if err != nil {
			return nil, err
		}
		c.secrets = append(c.secrets, doctor.Secret{Text: text, Expired: i >= len(f.secretFiles)})
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxCapture+1))
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if len(raw) > maxCapture {
		return nil, fmt.Errorf("the request has more than %d bytes", maxCapture)
	}
	return c, c.parse(raw)
}

func readSecret(file string) ([]byte, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read a signing secret: %w", err)
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, maxSecretFile+1))
	if err != nil {
		return nil, fmt.Errorf("read a signing secret: %w", err)
	}
	if len(text) > maxSecretFile {
		return nil, fmt.Errorf("read a signing secret: %s has more than %d bytes: is it another file?", file, maxSecretFile)
	}
	return text, nil
}

func readEndpoint(file string) (*manifest.Endpoint, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the endpoint: %w", err)
	}
	endpoint, err := manifest.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return endpoint, nil
}

// parse reads a raw HTTP/1.1 request. Lines may end in CRLF or LF. The body is as long as Content-Length says, is chunked, or
// reaches to the end.
func (c *capture) parse(raw []byte) error {
	head, rest := splitHead(raw)
	parsed, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
	if err != nil {
		return fmt.Errorf("standard input has no raw HTTP/1.1 request, which begins with a line such as POST /webhooks/payments HTTP/1.1: %s",
			whyUnreadable(head))
	}
	body, err := c.body(parsed, rest)
	if err != nil {
		return err
	}
	c.refused = c.refuse(parsed.Header, declaredLength(parsed), body)
	c.warnOfPath(parsed.URL)
	c.host = parsed.Host
	url := c.endpoint.PublicURL
	// As in the receiver: the question of a challenge is in the query, whether the rest of the URL is known or not.
	if parsed.URL.RawQuery != "" && (url != "" || parsed.Method != http.MethodPost) {
		url += "?" + parsed.URL.RawQuery
	}
	c.request = &receiver.Request{Method: parsed.Method, URL: url, Header: parsed.Header, Body: body}
	return nil
}

// whyUnreadable says what is wrong with a request's head. It names lines and quotes none of them, as net/http does: somebody who
// takes one file for another pipes a secret in.
func whyUnreadable(head []byte) string {
	first, fields, _ := strings.Cut(strings.TrimRight(string(head), "\r\n"), "\n")
	words := strings.Fields(first)
	switch {
	case first == "":
		return "it is empty"
	case strings.HasPrefix(first, "\ufeff"):
		return "there is a byte order mark before it; save it as UTF-8 without one"
	case strings.HasPrefix(first, ">") || strings.HasPrefix(first, "<"):
		return "its lines begin with > or <, as curl -v prints them; remove these"
	case strings.HasPrefix(first, "{") || strings.HasPrefix(first, "["):
		return "it has a body alone; the signature is in the headers, which are needed too"
	case len(words) != 3:
		return fmt.Sprintf("its first line has %d words instead of three", len(words))
	case words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0":
		return "the version at the end of its first line is not HTTP/1.1; write that, whatever it came with"
	}
	number := 1
	for line := range strings.SplitSeq(fields, "\n") {
		number++
		if !strings.Contains(line, ":") && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") && strings.TrimSpace(line) != "" {
			return fmt.Sprintf("line %d is no header, which is a name, a colon and a value", number)
		}
	}
	return "its method, its path or a header is written in a way that HTTP does not allow, or Content-Length, Transfer-Encoding or Host " +
		"is no good or there twice"
}

// splitHead cuts behind the empty line. The head that it returns ends in one, even if the request has none.
func splitHead(raw []byte) (head, rest []byte) {
	raw = bytes.TrimLeft(raw, "\r\n")
	for at := 0; ; {
		end := bytes.IndexByte(raw[at:], '\n')
		if end < 0 {
			return append(bytes.Clone(raw), "\r\n\r\n"...), nil
		}
		line := raw[at : at+end]
		at += end + 1
		if len(bytes.TrimSuffix(line, []byte("\r"))) == 0 {
			return raw[:at], raw[at:]
		}
	}
}

func (c *capture) body(parsed *http.Request, rest []byte) ([]byte, error) {
	if len(parsed.TransferEncoding) > 0 {
		body, ok := unchunk(rest)
		if !ok {
			return nil, errors.New("the body is not chunked as its headers say; remove Transfer-Encoding if it was decoded already")
		}
		return body, nil
	}
	declared := declaredLength(parsed)
	if declared < 0 || int64(len(rest)) <= declared {
		return rest, nil
	}
	c.warnings = append(c.warnings, fmt.Sprintf("there are %d bytes after the body, whose Content-Length is %d; they are left out",
		int64(len(rest))-declared, declared))
	return rest[:declared], nil
}

// declaredLength is the Content-Length, or -1. net/http has refused what is no length.
func declaredLength(parsed *http.Request) int64 {
	if len(parsed.TransferEncoding) > 0 || parsed.Header.Get("Content-Length") == "" {
		return -1
	}
	return parsed.ContentLength
}

// unchunk decodes a chunked body. Unlike net/http, it takes lines that end in LF alone, as editors leave them.
func unchunk(rest []byte) ([]byte, bool) {
	var body []byte
	for {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		size, _, _ := strings.Cut(strings.TrimSpace(string(line)), ";")
		length, err := strconv.ParseUint(size, 16, 31)
		if !found || err != nil || uint64(len(after)) < length {
			return nil, false
		}
		if length == 0 {
			return body, true
		}
		body = append(body, after[:length]...)
		rest = bytes.TrimPrefix(bytes.TrimPrefix(after[length:], []byte("\r")), []byte("\n"))
	}
}
