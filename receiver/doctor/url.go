// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/hookonce/hookonce/internal/scheme"
)

// urlHypotheses: the provider signed another URL than the endpoint takes for its own.
var urlHypotheses = []Hypothesis{
	editURL("URLScheme", "the URL with http and https", func(u url.URL, _ string) []url.URL {
		u.Scheme = map[string]string{"http": "https", "https": "http"}[u.Scheme]
		return []url.URL{u}
	}),
	editURL("URLTrailingSlash", "the URL with and without a slash at its end", func(u url.URL, _ string) []url.URL {
		if !strings.HasSuffix(u.Path, "/") {
			u.Path += "/"
		} else {
			u.Path = strings.TrimSuffix(u.Path, "/")
		}
		u.RawPath = ""
		return []url.URL{u}
	}),
	editURL("URLPort", "the URL with and without its port", func(u url.URL, host string) []url.URL {
		var out []url.URL
		for _, port := range []string{"", ":443", ":80", ":8080", ":8443", portOf(host)} {
			changed := u
			changed.Host = u.Hostname() + port
			out = append(out, changed)
		}
		return out
	}),
	editURL("URLQuery", "the URL without its query", func(u url.URL, _ string) []url.URL {
		u.RawQuery = ""
		return []url.URL{u}
	}),
	editURL("URLHost", "the URL with the host that the request was sent to", func(u url.URL, host string) []url.URL {
		if host == "" {
			return nil
		}
		u.Host = host
		other := u
		other.Scheme = map[string]string{"http": "https", "https": "http"}[u.Scheme]
		return []url.URL{u, other}
	}),
}

func portOf(host string) string {
	if at := strings.LastIndexByte(host, ':'); at >= 0 && !strings.HasSuffix(host, "]") {
		return host[at:]
	}
	return ""
}

// editURL tries other public URLs, where the scheme signs it.
func editURL(name, tries string, edits func(u url.URL, host string) []url.URL) Hypothesis {
	return Hypothesis{name, tries, listed(func(a attempt, c Case) []proposal {
		if !a.scheme.Signs(scheme.PlaceholderURL) {
			return nil
		}
		given := a.request.URL
		if given == "" && c.Host != "" {
			given = "https://" + c.Host
		}
		u, err := url.Parse(given)
		if err != nil || u.Host == "" {
			return nil
		}
		var out []proposal
		for _, changed := range edits(*u, c.Host) {
			shown := changed
			shown.RawQuery = ""
			out = append(out, proposal{a.withURL(changed.String()), -1, fmt.Sprintf(
				"the provider signed the URL %s, and the endpoint takes %s for its own: set exposure.url to the former",
				shown.String(), withoutQuery(a.request.URL))})
		}
		return out
	})}
}

func withoutQuery(given string) string {
	before, _, _ := strings.Cut(given, "?")
	if before == "" {
		return "none"
	}
	return before
}
