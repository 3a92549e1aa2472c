// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxBody   = 1 << 20
	tolerance = 5 * time.Minute
)

// answer is about as long as what Hookonce answers.
var answer = []byte(`{"event":"evt_000000000000000000"}`)

// empty reads the body and answers: what net/http, the load and the machine leave for all others.
func empty(context.Context, Options) (http.Handler, func() error, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}), nothing, nil
}

// event is what is read of a body.
type event struct {
	ID   string `json:"event_id"`
	Type string `json:"event_type"`
	Data struct {
		InvoiceID string `json:"invoice_id"`
	} `json:"data"`
}

// signed is the handler that people write: it reads the body, checks the signature and decodes the event, which store then
// keeps in one transaction. An event that is known is answered like a new one.
func signed(secret string, store func(ctx context.Context, e event, body []byte) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if !verified([]byte(secret), r.Header.Get("X-Webhook-Signature"), body) {
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		var e event
		if err := json.Unmarshal(body, &e); err != nil || e.ID == "" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if err := store(context.WithoutCancel(r.Context()), e, body); err != nil {
			slog.Error("An event could not be stored", "error", err)
			http.Error(w, "unavailable", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"event":"` + e.ID + `"}`))
	})
}

// verified checks a header t=...,v1=....
func verified(secret []byte, header string, body []byte) bool {
	timestamp, signature, found := strings.Cut(header, ",v1=")
	timestamp, stamped := strings.CutPrefix(timestamp, "t=")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if !found || !stamped || err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	given, err := hex.DecodeString(signature)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return hmac.Equal(mac.Sum(nil), given)
}
