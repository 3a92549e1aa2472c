// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package keyring

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is what every way of showing sensitive bytes shows.
const redacted = "(sensitive)"

// Sensitive are bytes that no log, error, event or status may show. It converts to and from []byte freely; formatting
// with any verb, logging and marshaling show "(sensitive)".
type Sensitive []byte

// String returns "(sensitive)".
func (Sensitive) String() string { return redacted }

// GoString returns "(sensitive)".
func (Sensitive) GoString() string { return redacted }

// Format writes "(sensitive)" for every verb, %x and %s included.
func (Sensitive) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "(sensitive)".
func (Sensitive) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns "(sensitive)", which covers JSON, XML and YAML.
func (Sensitive) MarshalText() ([]byte, error) { return []byte(redacted), nil }
