// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
)

// Draft is an event to be signed as a provider would.
type Draft struct {
	// EventID, EventType and ResourceID go into the headers where the scheme has headers for them; what the scheme reads
	// from the body must be there already: see Body.
	EventID    string
	EventType  string
	ResourceID string
	// ContentType of the body; empty means application/json, or a form's if the body is one.
	ContentType string
	// URL is the endpoint's public one; needed where it is signed.
	URL  string
	Body []byte
}

// Sign returns the headers by which a provider with these keys would send the draft at the moment now. Several keys are
// possible where the scheme's header is a list: one signature for each, in their order. A scheme that puts signatures into
// the body or the URL needs SignRequest.
func Sign(s scheme.Scheme, keys [][]byte, d Draft, now time.Time) (http.Header, error) {
	r, err := SignRequest(s, keys, d, now)
	if err != nil {
		return nil, err
	}
	return r.Header, nil
}

// SignRequest returns the whole request. Keys are what scheme.SigningKey decodes: private ones for Ed25519.
func SignRequest(s scheme.Scheme, keys [][]byte, d Draft, now time.Time) (*Request, error) {
	if err := scheme.Validate(s); err != nil {
		return nil, fmt.Errorf("sign as %s: %w", s.Name, err)
	}
	signer := &signer{Verifier: New(s), keys: keys, draft: d}
	r, err := signer.sign(now)
	if err != nil {
		return nil, fmt.Errorf("sign as %s: %w", s.Name, err)
	}
	return r, nil
}

type signer struct {
	*Verifier
	keys  [][]byte
	draft Draft
}

func (g *signer) sign(now time.Time) (*Request, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	r := &Request{Method: http.MethodPost, URL: g.draft.URL, Header: g.headers(), Body: g.draft.Body}
	s := g.newScratch()
	if len(g.scheme.Signature.Path) > 0 {
		return r, g.signItems(s, r)
	}
	if g.form && isJSON(r.Body) {
		sum := sha256.Sum256(r.Body)
		separator := "?"
		if strings.Contains(r.URL, "?") {
			separator = "&"
		}
		r.URL += separator + digestParameter + "=" + hex.EncodeToString(sum[:])
	}
	signed := parsed{id: g.draft.EventID, timestamp: timestampAt(g.scheme.Timestamp, now)}
	if err := g.compose(s, signed, r); err != nil {
		return nil, fmt.Errorf("the id, the URL or the body cannot be signed: %w", err)
	}
	var elements []string
	if g.scheme.Timestamp != nil {
		if g.shared {
			elements = append(elements, g.scheme.Timestamp.Prefix+signed.timestamp)
		} else {
			r.Header.Set(g.scheme.Timestamp.Header, g.scheme.Timestamp.Prefix+signed.timestamp)
		}
	}
	for _, key := range g.keys {
		elements = append(elements, g.scheme.Signature.Prefix+g.signature(s, key, r.Body))
	}
	r.Header.Set(g.scheme.Signature.Header, strings.Join(elements, g.scheme.Signature.Separator))
	return r, nil
}

func (g *signer) check() error {
	if len(g.keys) == 0 {
		return errors.New("there is no key to sign with")
	}
	if len(g.keys) > 1 && g.scheme.Signature.Separator == "" {
		return errors.New("its header holds one signature; sign with one key")
	}
	for _, key := range g.keys {
		if len(key) == 0 {
			return errors.New("a key is empty")
		}
		if g.scheme.Signature.Algorithm == scheme.Ed25519 && len(key) != ed25519.PrivateKeySize {
			return errors.New("a key is no private Ed25519 key of 64 bytes; sign with what begins with whsk_")
		}
	}
	if g.signsURL && g.draft.URL == "" {
		return errors.New("it signs the URL; say which one the provider was given")
	}
	return nil
}

func (g *signer) headers() http.Header {
	header := http.Header{}
	contentType := g.draft.ContentType
	if contentType == "" {
		contentType = "application/json"
		if (g.scheme.FormObject || g.scheme.FormField != "") && !isJSON(g.draft.Body) {
			contentType = "application/x-www-form-urlencoded"
		}
	}
	header.Set("Content-Type", contentType)
	setFirstHeader(header, g.scheme.EventID, g.draft.EventID)
	setFirstHeader(header, g.scheme.EventType, g.draft.EventType)
	setFirstHeader(header, g.scheme.ResourceID, g.draft.ResourceID)
	return header
}

// signature signs what is in the scratch.
func (g *signer) signature(s *scratch, key, body []byte) string {
	var signature []byte
	switch g.scheme.Signature.Algorithm {
	case scheme.Token:
		return string(key)
	case scheme.Ed25519:
		message := append([]byte{}, s.message[:s.split]...)
		if g.bodyAt < len(g.parts) {
			message = append(message, body...)
		}
		signature = ed25519.Sign(key, append(message, s.message[s.split:]...))
	case scheme.SHA1, scheme.SHA256, scheme.SHA384, scheme.SHA512:
		mac := hmac.New(g.newHash, key)
		mac.Write(s.message[:s.split])
		if g.bodyAt < len(g.parts) {
			mac.Write(body)
		}
		mac.Write(s.message[s.split:])
		signature = mac.Sum(nil)
	}
	return encode(g.scheme.Signature.Encoding, signature)
}

// signItems puts a signature into each item of a batch.
func (g *signer) signItems(s *scratch, r *Request) error {
	items, err := s.items(r.Body, g.scheme.Batch)
	if err != nil {
		return fmt.Errorf("read the batch: %w", err)
	}
	var out []byte
	copied := 0
	for _, at := range items {
		item := at.of(r.Body)
		if err := s.scan(item, g.tree); err != nil {
			return fmt.Errorf("read an item: %w", err)
		}
		// Whether there is a signature already does not matter.
		s.values[g.Verifier.signature] = value{kind: text}
		if err := g.composeItem(s); err != nil {
			return fmt.Errorf("an item cannot be signed: %w", err)
		}
		signed, err := setMember(item, g.scheme.Signature.Path, g.scheme.Signature.Prefix+g.signature(s, g.keys[0], nil))
		if err != nil {
			return err
		}
		out = append(append(out, r.Body[copied:at.start]...), signed...)
		copied = at.end
	}
	r.Body = append(out, r.Body[copied:]...)
	return nil
}

// setMember sets a text in a JSON object, at a path whose objects need not be there yet.
func setMember(object []byte, path []string, text string) ([]byte, error) {
	members := map[string]json.RawMessage{}
	if len(object) > 0 {
		if err := json.Unmarshal(object, &members); err != nil {
			return nil, fmt.Errorf("put a signature into an item: %w", err)
		}
	}
	var inner []byte
	var err error
	if len(path) == 1 {
		inner, err = json.Marshal(text)
	} else {
		inner, err = setMember(members[path[0]], path[1:], text)
	}
	if err != nil {
		return nil, fmt.Errorf("put a signature into an item: %w", err)
	}
	if members == nil {
		members = map[string]json.RawMessage{} // it was null
	}
	members[path[0]] = inner
	out, err := json.Marshal(members)
	if err != nil {
		return nil, fmt.Errorf("put a signature into an item: %w", err)
	}
	return out, nil
}

func timestampAt(t *scheme.Timestamp, now time.Time) string {
	switch {
	case t == nil:
		return ""
	case t.Unit == scheme.Milliseconds:
		return strconv.FormatInt(now.UnixMilli(), 10)
	}
	return strconv.FormatInt(now.Unix(), 10)
}

func setFirstHeader(header http.Header, sources []scheme.Source, value string) {
	if value != "" && len(sources) > 0 && sources[0].Header != "" {
		header.Set(sources[0].Header, value)
	}
}

func encode(encoding scheme.Encoding, signature []byte) string {
	if encoding == scheme.Base64 {
		return base64.StdEncoding.EncodeToString(signature)
	}
	return hex.EncodeToString(signature)
}
