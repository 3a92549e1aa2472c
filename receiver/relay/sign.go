// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// Headers of a signed attempt: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
const (
	// MessageIDHeader carries the idempotency key: it names the message, and is the same on every attempt.
	MessageIDHeader = "Webhook-Id"
	// TimestampHeader carries the attempt's moment, in Unix seconds.
	TimestampHeader = "Webhook-Timestamp"
	// SignatureHeader carries v1, and the HMAC-SHA256 over id, timestamp and body in base64, for each key.
	SignatureHeader = "Webhook-Signature"
)

// sign adds the headers of Standard Webhooks if there are keys.
func sign(header http.Header, keys [][]byte, d receiver.Delivery, now time.Time) {
	if len(keys) == 0 {
		return
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	signatures := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(d.IdempotencyKey + "." + timestamp + "."))
		mac.Write(d.Body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	header.Set(MessageIDHeader, d.IdempotencyKey)
	header.Set(TimestampHeader, timestamp)
	header.Set(SignatureHeader, strings.Join(signatures, " "))
}
