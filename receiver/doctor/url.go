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
	{"URLQuery", "the URL without its query, or with the one that a proxy says it had", listed(otherQuery)},
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

// originalURIs are headers in which proxies say what they were asked for.
var originalURIs = []string{"X-Original-Uri", "X-Original-Url", "X-Forwarded-Uri", "X-Rewrite-Url"}

func otherQuery(a attempt, _ Case) []proposal {
	if !a.scheme.Signs(scheme.PlaceholderURL) || a.request.URL == "" {
		return nil
	}
	plain, _, found := strings.Cut(a.request.URL, "?")
	if found {
		return []proposal{{a.withURL(plain), -1, fmt.Sprintf("the provider signed the URL %s without a query, and the request came with one: "+
			"a proxy added it; pass the request on as it is", plain)}}
	}
	var out []proposal
	for _, name := range originalURIs {
		if _, query, found := strings.Cut(a.request.Header.Get(name), "?"); found {
			out = append(out, proposal{a.withURL(plain + "?" + query), -1, fmt.Sprintf("the provider signed the URL with a query, "+
				"which is in the header %s and not in the request: a proxy removed it; pass the query on", name)})
		}
	}
	return out
}

// aboutQuery says that a query may be missing, which nobody can guess.
func aboutQuery(a attempt) []string {
	if !a.scheme.Signs(scheme.PlaceholderURL) || a.request.URL == "" || strings.Contains(a.request.URL, "?") {
		return nil
	}
	return []string{"the scheme signs the URL with its query, and the request has none: if the URL at the provider has one, " +
		"a proxy removed it; let it pass the query on"}
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
