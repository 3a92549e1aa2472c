// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiverconfig

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// MaxBytes bounds the document; a ConfigMap holds at most 1 MiB.
const MaxBytes = 1 << 20

// VersionError says that the document was written for another version of the receiver.
type VersionError struct {
	// Version that the document has; 0 if it has none.
	Version int
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("configuration has version %d, this build reads version %d", e.Version, Version)
}

// Parse reads a document and checks it. It refuses another version, with a *VersionError; anything after the document; and a
// value that Validate refuses. Members that a later release adds are ignored, so that its document can be read by the
// release before, whose receivers are still there during an upgrade; a change of meaning needs another version.
func Parse(document []byte) (*Config, error) {
	if len(document) > MaxBytes {
		return nil, fmt.Errorf("configuration has %d bytes, more than %d", len(document), MaxBytes)
	}
	// The version comes first: what another version changed must not be reported as a mistake in this one.
	var header struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(document, &header); err != nil {
		return nil, fmt.Errorf("decode configuration: %w", err)
	}
	if header.Version != Version {
		return nil, &VersionError{Version: header.Version}
	}
	config := &Config{}
	if err := json.Unmarshal(document, config); err != nil {
		return nil, fmt.Errorf("decode configuration: %w", err)
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return config, nil
}

// Encode checks the configuration and writes it. Equal configurations give equal bytes, in every build of one version.
func (c *Config) Encode() ([]byte, error) {
	out := *c
	out.Version = Version
	if err := out.Validate(); err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	// Signed strings may have any byte, and people read the document.
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(&out); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return buffer.Bytes(), nil
}

// Digest returns the hexadecimal SHA-256 of a document, by which receivers say which one they have loaded.
func Digest(document []byte) string {
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}

// MarshalText writes the duration as Go writes it.
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

// UnmarshalText reads a duration as Go writes it. It refuses a negative one.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q: %w", text, err)
	}
	if parsed < 0 {
		return fmt.Errorf("duration %q is negative", text)
	}
	*d = Duration(parsed)
	return nil
}
