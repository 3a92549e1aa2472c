// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/base64"
	"encoding/hex"
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
	// from the body must be there already.
	EventID    string
	EventType  string
	ResourceID string
	// ContentType of the body; empty means application/json.
	ContentType string
	Body        []byte
}

// Sign returns the headers by which a provider with these keys would send the draft at the moment now. Several keys are
// possible where the scheme's header is a list: one signature for each, in their order.
func Sign(s scheme.Scheme, keys [][]byte, d Draft, now time.Time) (http.Header, error) {
	if err := scheme.Validate(s); err != nil {
		return nil, fmt.Errorf("sign as %s: %w", s.Name, err)
	}
	if err := checkKeys(s, keys); err != nil {
		return nil, fmt.Errorf("sign as %s: %w", s.Name, err)
	}
	if strings.Contains(s.StringToSign, scheme.PlaceholderID) && checkSignedID(s, d.EventID) != "" {
		return nil, fmt.Errorf("sign as %s: the event id must be 1 to 255 visible ASCII characters without %q",
			s.Name, scheme.AfterID(s.StringToSign))
	}
	timestamp := timestampAt(s.Timestamp, now)
	head, _ := expand(s, d.EventID, timestamp)
	header := http.Header{}
	contentType := d.ContentType
	if contentType == "" {
		contentType = "application/json"
	}
	header.Set("Content-Type", contentType)
	setFirstHeader(header, s.EventID, d.EventID)
	setFirstHeader(header, s.EventType, d.EventType)
	setFirstHeader(header, s.ResourceID, d.ResourceID)
	var elements []string
	if s.Timestamp != nil {
		if strings.EqualFold(s.Timestamp.Header, s.Signature.Header) {
			elements = append(elements, s.Timestamp.Prefix+timestamp)
		} else {
			header.Set(s.Timestamp.Header, s.Timestamp.Prefix+timestamp)
		}
	}
	for _, key := range keys {
		signature := sign(hashOf(s.Signature.Algorithm), key, []byte(head), d.Body)
		elements = append(elements, s.Signature.Prefix+encode(s.Signature.Encoding, signature))
	}
	header.Set(s.Signature.Header, strings.Join(elements, s.Signature.Separator))
	return header, nil
}

func checkKeys(s scheme.Scheme, keys [][]byte) error {
	if len(keys) == 0 {
		return errors.New("there is no key to sign with")
	}
	if len(keys) > 1 && s.Signature.Separator == "" {
		return errors.New("its header holds one signature; sign with one key")
	}
	for _, key := range keys {
		if len(key) == 0 {
			return errors.New("a key is empty")
		}
	}
	return nil
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
