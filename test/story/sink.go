// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"
)

// Call is one POST that the sink got.
type Call struct {
	Key        string    `json:"key"`
	EventID    string    `json:"eventID"`
	Attempt    string    `json:"attempt"`
	BodyDigest string    `json:"bodyDigest"`
	Time       time.Time `json:"time"`
}

// NewCall describes a POST by its headers and body.
func NewCall(header http.Header, body []byte, now time.Time) Call {
	digest := sha256.Sum256(body)
	return Call{
		Key:        header.Get("Idempotency-Key"),
		EventID:    header.Get("Hookonce-Event-Id"),
		Attempt:    header.Get("Hookonce-Attempt"),
		BodyDigest: hex.EncodeToString(digest[:]),
		Time:       now.UTC(),
	}
}

// readCalls returns the calls that a sink appended to a file; none if there is no such file.
func readCalls(file string) ([]Call, error) {
	in, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the sink's calls: %w", err)
	}
	defer in.Close()
	var calls []Call
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var call Call
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			return nil, fmt.Errorf("read the sink's calls: %w", err)
		}
		calls = append(calls, call)
	}
	return calls, lines.Err()
}
