// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

const (
	// maxChallenge is the length of the longest text that is given back, in bytes. Slack's, the longest known, have 52.
	maxChallenge = 1024
	// maxQuery is the length of the longest query of a handshake, in bytes.
	maxQuery = 4096
)

// handshakes are the signed ones of a scheme, with the indices of what they are known by; -1 if it has none.
type handshakes struct {
	ping                    bool
	verification, challenge int
	validation, plainToken  int
}

func (v *Verifier) compileHandshakes() {
	v.handshakes = handshakes{verification: -1, validation: -1}
	for _, h := range v.scheme.Handshakes {
		switch h.Kind {
		case scheme.URLVerification:
			v.handshakes.verification = v.value([]string{"type"})
			v.handshakes.challenge = v.value([]string{"challenge"})
		case scheme.URLValidation:
			v.handshakes.validation = v.value([]string{"event"})
			v.handshakes.plainToken = v.value([]string{"payload", "plainToken"})
		case scheme.Ping:
			v.handshakes.ping = true
		case scheme.HubChallenge, scheme.EchoChallenge, scheme.OriginConsent:
		}
	}
}

// handshake answers a signed request that is one; nil if it is an event.
func (v *Verifier) handshake(s *scratch, n *names, r *Request, key []byte) (*receiver.Reply, error) {
	h := &v.handshakes
	switch {
	case h.verification >= 0 && string(s.values[h.verification].text) == "url_verification":
		challenge := s.values[h.challenge]
		if challenge.kind != text || !isEcho(string(challenge.text)) {
			return nil, reject(receiver.CauseMalformedBody)
		}
		return plain(string(challenge.text)), nil
	case h.validation >= 0 && string(s.values[h.validation].text) == "endpoint.url_validation":
		token := s.values[h.plainToken]
		if token.kind != text || !isEcho(string(token.text)) {
			return nil, reject(receiver.CauseMalformedBody)
		}
		mac := hmac.New(v.newHash, key)
		mac.Write(token.text)
		body := quote([]byte(`{"plainToken":`), string(token.text))
		body = append(body, `,"encryptedToken":"`...)
		body = append(hex.AppendEncode(body, mac.Sum(nil)), `"}`...)
		return reply("application/json", body), nil
	case h.ping && string(v.first(s, n, r, v.types, asTextOrAbsent).text) == "ping":
		return plain("pong"), nil
	}
	return nil, nil
}

// isEcho says whether a text may be given back: 1 to maxChallenge bytes of visible ASCII.
func isEcho(text string) bool {
	return text != "" && len(text) <= maxChallenge && !strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' })
}

func plain(text string) *receiver.Reply { return reply("text/plain; charset=utf-8", []byte(text)) }

func reply(contentType string, body []byte) *receiver.Reply {
	return &receiver.Reply{Status: http.StatusOK, Body: body, Header: http.Header{
		"Content-Type": {contentType}, "X-Content-Type-Options": {"nosniff"},
	}}
}

// Methods returns the HTTP methods that the scheme's handshakes use besides POST, in the order of the alphabet.
func Methods(s scheme.Scheme) []string {
	var get, options bool
	for _, h := range s.Handshakes {
		get = get || h.Kind == scheme.HubChallenge || h.Kind == scheme.EchoChallenge
		options = options || h.Kind == scheme.OriginConsent
	}
	var methods []string
	if get {
		methods = append(methods, http.MethodGet)
	}
	if options {
		methods = append(methods, http.MethodOptions)
	}
	return methods
}

// Challenge answers an unsigned handshake: a GET or an OPTIONS. Nil and no error means that the scheme has none for this
// method; the error is a *Rejection with CauseBadHandshake. Of the URL only the query is read.
func Challenge(s scheme.Scheme, r *Request) (*receiver.Reply, error) {
	has := false
	for i := range s.Handshakes {
		h := &s.Handshakes[i]
		var answer *receiver.Reply
		switch {
		case h.Kind == scheme.OriginConsent && r.Method == http.MethodOptions:
			answer = consent(h, r.Header)
		case h.Kind == scheme.HubChallenge && r.Method == http.MethodGet:
			answer = hubChallenge(h, r.URL)
		case h.Kind == scheme.EchoChallenge && r.Method == http.MethodGet:
			answer = echoChallenge(r.URL)
		default:
			continue
		}
		if answer != nil {
			return answer, nil
		}
		has = true
	}
	if has {
		return nil, reject(receiver.CauseBadHandshake)
	}
	return nil, nil
}

// hubChallenge gives the challenge to whoever knows the token. Without a token nobody does.
func hubChallenge(h *scheme.Handshake, url string) *receiver.Reply {
	query, ok := parseQuery(url)
	if !ok || query["hub.mode"] != "subscribe" || h.VerifyToken == "" || !isEcho(query["hub.challenge"]) {
		return nil
	}
	given, want := sha256.Sum256([]byte(query["hub.verify_token"])), sha256.Sum256([]byte(h.VerifyToken))
	if subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		return nil
	}
	return plain(query["hub.challenge"])
}

func echoChallenge(url string) *receiver.Reply {
	query, ok := parseQuery(url)
	if !ok || !isEcho(query["challenge"]) {
		return nil
	}
	return plain(query["challenge"])
}

// parseQuery returns the parameters of a URL, if it has none of them twice.
func parseQuery(text string) (map[string]string, bool) {
	_, query, _ := strings.Cut(text, "?")
	if len(query) > maxQuery {
		return nil, false
	}
	parsed, err := url.ParseQuery(query)
	if err != nil {
		return nil, false
	}
	out := make(map[string]string, len(parsed))
	for name, values := range parsed {
		if len(values) > 1 {
			return nil, false
		}
		out[name] = values[0]
	}
	return out, true
}

// The headers of CloudEvents' handshake, in the form that net/http gives them.
const (
	requestOrigin = "Webhook-Request-Origin"
	requestRate   = "Webhook-Request-Rate"
	allowedOrigin = "Webhook-Allowed-Origin"
	allowedRate   = "Webhook-Allowed-Rate"
)

// consent allows a listed origin to send, at the rate that it asks for.
func consent(h *scheme.Handshake, header http.Header) *receiver.Reply {
	origins, rates := header[requestOrigin], header[requestRate]
	if len(origins) != 1 || len(rates) > 1 || !isEcho(origins[0]) {
		return nil
	}
	listed := false
	for _, origin := range h.Origins {
		listed = listed || origin == "*" || strings.EqualFold(origin, origins[0])
	}
	if !listed {
		return nil
	}
	rate := "*"
	if len(rates) == 1 {
		perMinute, err := strconv.ParseUint(rates[0], 10, 31)
		if err != nil || perMinute == 0 {
			return nil
		}
		rate = strconv.FormatUint(perMinute, 10)
	}
	return &receiver.Reply{Status: http.StatusOK, Header: http.Header{
		"Allow": {http.MethodPost}, allowedOrigin: {origins[0]}, allowedRate: {rate},
	}}
}
