// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package environ

import "testing"

func TestExpand(t *testing.T) {
	values := map[string]string{"POD_IP": "127.77.0.2", "EMPTY": "", "DOLLAR": "$(POD_IP)"}
	lookup := func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
	tests := map[string]string{
		"":                                   "",
		"plain":                              "plain",
		"--public-address=$(POD_IP):8080":    "--public-address=127.77.0.2:8080",
		"$(POD_IP)$(EMPTY)$(POD_IP)":         "127.77.0.2127.77.0.2",
		"$(UNKNOWN) stays":                   "$(UNKNOWN) stays",
		"$$(POD_IP) is literal":              "$(POD_IP) is literal",
		"$$$(POD_IP)":                        "$127.77.0.2",
		"price $5, $x and a trailing $":      "price $5, $x and a trailing $",
		"$(not closed":                       "$(not closed",
		"$(DOLLAR) is not expanded a second": "$(POD_IP) is not expanded a second",
	}
	for text, want := range tests {
		if got := Expand(text, lookup); got != want {
			t.Errorf("Expand(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestRewrite(t *testing.T) {
	rewriter := NewRewriter([]Mount{
		{Path: "/etc/hookonce", Dir: "/pod/outer"},
		{Path: "/etc/hookonce/config/", Dir: "/pod/config"},
		{Path: "/tmp", Dir: "/pod/tmp"},
	})
	tests := map[string]string{
		"/etc/hookonce/config":                        "/pod/config",
		"/etc/hookonce/config/receiver.json":          "/pod/config/receiver.json",
		"/etc/hookonce/keyring":                       "/pod/outer/keyring",
		"--config-dir=/etc/hookonce/config":           "--config-dir=/pod/config",
		"--config-dir=/etc/hookonce/config2":          "--config-dir=/pod/outer/config2",
		"--dir=/etc/hookonce-other":                   "--dir=/etc/hookonce-other",
		"--dir=/etc/hookonce.d":                       "--dir=/etc/hookonce.d",
		"A=/tmp,B=/tmp/x":                             "A=/pod/tmp,B=/pod/tmp/x",
		"/tmp:/usr/tmp":                               "/pod/tmp:/usr/tmp",
		"see /etc/hookonce/config":                    "see /etc/hookonce/config",
		"https://example.com/?next=/tmp&again=/tmpfs": "https://example.com/?next=/pod/tmp&again=/tmpfs",
		"": "",
	}
	for text, want := range tests {
		if got := rewriter.Rewrite(text); got != want {
			t.Errorf("Rewrite(%q) is %q, want %q", text, got, want)
		}
	}
}

// What a rewrite puts in is not looked at again, even when the state folder is below a mount path.
func TestRewriteOnce(t *testing.T) {
	rewriter := NewRewriter([]Mount{{Path: "/tmp", Dir: "/tmp/node/pods/1/tmp"}})
	if got, want := rewriter.Rewrite("--dir=/tmp/a"), "--dir=/tmp/node/pods/1/tmp/a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
