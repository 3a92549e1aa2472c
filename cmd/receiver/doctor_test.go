// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
)

func TestDoctorSpeaksPlainly(t *testing.T) {
	paymos, _ := scheme.Preset(scheme.Paymos)
	in := captured(t, paymos, captureSecret, captureBody, "\n") + captureBody
	endpoint := manifestOf(t, "scheme: Paymos")
	good := []string{"doctor", "--endpoint", endpoint, "--now", "1700000000", "--secret-file"}
	for name, test := range map[string]struct {
		in, secret string
		args       []string
		code       int
		want       []string
	}{
		"Verifies": {in, captureSecret, nil, exitOK, []string{"It verifies: the signature holds"}},
		"Newlines": {in, captureSecret + "\n\n", nil, exitFailed, []string{
			"Rejected, no_secret: there is no secret that can be used.", "This alone would make it verify:\n  SecretLineBreak (secret 0): there is a line break",
		}},
		"Body":     {in + "\n", captureSecret, nil, exitFailed, []string{"Rejected, bad_signature", "BodyTrailingNewline: a line break"}},
		"Hopeless": {in, "another-signing-secret", nil, exitFailed, []string{"No single change that we know of", "Tried:\n  - secrets that are accepted no more\n"}},
		"JSON":     {in + "\n", captureSecret, []string{"-o", "json"}, exitFailed, []string{`"name":"BodyTrailingNewline"`, `"verifies":false`, `"tried":[]`}},
		"Get": {
			"GET / HTTP/1.1\nHost: x\n\n", captureSecret, nil, exitFailed,
			[]string{"Rejected, method_not_allowed: it is a GET, which is not signed", "these methods are answered: POST"},
		},
		"Cut": {
			strings.Replace(in, "\n\n", "\nContent-Length: 1000\n\n", 1), captureSecret, nil, exitFailed,
			[]string{"Rejected, incomplete_body: the body has 78 bytes, and Content-Length says 1000", "Notes:\n  - besides, the signature holds"},
		},
		"CutOff": {
			strings.Replace(in, "\n\n", "\nContent-Length: 78\n\n", 1)[:len(in)-20], captureSecret, nil, exitFailed,
			[]string{"Rejected, incomplete_body: the body has ", "besides, as it is, bad_signature"},
		},
		"Compressed": {
			strings.Replace(in, "\n\n", "\nContent-Encoding: gzip\n\n", 1), captureSecret, nil, exitFailed,
			[]string{"Rejected, unsupported_encoding: it has a Content-Encoding"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, log := feed(t, test.in, slices.Concat(good, []string{writeFile(t, test.secret)}, test.args)...)
			if code != test.code {
				t.Errorf("exit code %d, want %d; printed %q", code, test.code, log)
			}
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("printed\n%s\nwithout %q", out, want)
				}
			}
			if strings.Contains(out+log, strings.TrimSpace(test.secret)) {
				t.Errorf("the secret is in\n%s%s", out, log)
			}
		})
	}
	if code, _, log := feed(t, in, slices.Concat(good, []string{writeFile(t, captureSecret), "-o", "yaml"})...); code != exitUsage {
		t.Errorf("an unknown output: exit code %d, %q", code, log)
	}
}
