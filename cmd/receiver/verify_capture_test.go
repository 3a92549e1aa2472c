// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// TestUnreadableCapturesAreNotQuoted: whoever pipes the secret in, instead of the request, finds it in no message; and each message
// says what is wrong.
func TestUnreadableCapturesAreNotQuoted(t *testing.T) {
	const line = "s3cr3t-signing-secret"
	endpoint, secret := manifestOf(t, "scheme: Paymos"), writeFile(t, captureSecret)
	for name, test := range map[string]struct{ in, want string }{
		"Nothing":      {"", "it is empty"},
		"Secret":       {line + "\n", "has 1 words instead of three"},
		"Words":        {line + " a b", "is not HTTP/1.1"},
		"Long":         {strings.Repeat(line, 1<<16), "instead of three"},
		"Header":       {"POST / HTTP/1.1\nHost: x\n" + line + "\n\n{}", "line 3 is no header"},
		"Length":       {"POST / HTTP/1.1\nContent-Length: " + line + "\n\n{}", "Content-Length"},
		"Path":         {"POST /%zz" + line + " HTTP/1.1\n\n{}", "its path"},
		"Curl":         {"> POST / HTTP/1.1\n> Host: x\n", "as curl -v prints them"},
		"Body":         {`{"a":"` + line + `"}`, "a body alone"},
		"HTTP2":        {"POST / HTTP/2\nHost: x\n\n{}", "write that, whatever it came with"},
		"ByteOrder":    {"\ufeffPOST / HTTP/1.1\nHost: x\n\n{}", "byte order mark"},
		"ControlBytes": {"\x00\x01" + line, "instead of three"},
	} {
		for _, command := range []string{"verify", "doctor"} {
			code, out, log := feed(t, test.in, command, "--endpoint", endpoint, "--secret-file", secret)
			if code != exitUsage || out != "" || !strings.Contains(log, test.want) {
				t.Errorf("%s, %s: exit code %d, printed %q and %.300q, want %q", command, name, code, out, log, test.want)
			}
			if strings.Contains(log, line) || len(log) > 500 {
				t.Errorf("%s, %s: the input is in the message: %.300q", command, name, log)
			}
		}
	}
}

// TestFilesThatAreNoSecret: doctor tries many changes of each secret, and would be busy with a large file for minutes.
func TestFilesThatAreNoSecret(t *testing.T) {
	file := writeFile(t, strings.Repeat("a", maxSecretFile+1))
	code, _, log := feed(t, "", "doctor", "--endpoint", manifestOf(t, "scheme: Paymos"), "--secret-file", file)
	if code != exitUsage || !strings.Contains(log, file+" has more than 65536 bytes: is it another file?") {
		t.Errorf("exit code %d, printed %q", code, log)
	}
}
