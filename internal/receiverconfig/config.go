// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package receiverconfig is the document by which the operator tells receivers what to do: the file config.json in the
// ConfigMap that is mounted at --config-dir. It holds no secret.
package receiverconfig

import (
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
)

// FileName is the name of the document in the mounted folder.
const FileName = "config.json"

// Version is the version of the document that this build writes.
const Version = 1

// Config is what a receiver does for one endpoint.
type Config struct {
	Version int `json:"version"`
	// Endpoint is namespace/name; it is also the scope in which event ids are claimed.
	Endpoint string `json:"endpoint"`
	Path     string `json:"path"`
	// PublicURL is the URL, without a query, that the provider is given; empty if it is not known.
	PublicURL    string        `json:"publicURL,omitempty"`
	Scheme       scheme.Scheme `json:"scheme"`
	Tolerance    Duration      `json:"tolerance"`
	MaxBodyBytes int64         `json:"maxBodyBytes"`
	// Schema of the ledger's tables.
	Schema       string        `json:"schema"`
	Effects      []Effect      `json:"effects,omitempty"`
	Destinations []Destination `json:"destinations,omitempty"`
	Retention    Retention     `json:"retention"`
}

// Effect is a SQL function called inside the claim's transaction.
type Effect struct {
	Name       string   `json:"name"`
	EventTypes []string `json:"eventTypes"`
	Function   string   `json:"function"`
	// Key is Event or ResourceAndType.
	Key string `json:"key"`
}

// Destination is a system that gets a copy of each matching event.
type Destination struct {
	Name       string     `json:"name"`
	URL        string     `json:"url"`
	EventTypes []string   `json:"eventTypes"`
	Timeout    Duration   `json:"timeout"`
	Delays     []Duration `json:"delays"`
	// Concurrency is how many attempts are made at once; 0 is the receiver's default.
	Concurrency int `json:"concurrency,omitempty"`
	// FailClientErrors lets an answer that blames the delivery end it.
	FailClientErrors bool `json:"failClientErrors,omitempty"`
	// Signed lets deliveries be signed with the secret that is mounted for the destination, and wait while there is none.
	Signed bool `json:"signed,omitempty"`
	// Ordering is OrderingPerResource or empty; with FailedBlock a failed delivery blocks later ones of its resource.
	Ordering    string `json:"ordering,omitempty"`
	FailedBlock bool   `json:"failedBlock,omitempty"`
	// Subject of NATS that deliveries are published to; empty where they are posted.
	Subject string `json:"subject,omitempty"`
	// LogsIn lets receivers log in with the credentials that are mounted for the destination, and deliveries wait while there
	// are none.
	LogsIn bool `json:"logsIn,omitempty"`
}

// OrderingPerResource has the events of each resource delivered in their order.
const OrderingPerResource = "PerResource"

// The ends of the names of the files with destinations' secrets, behind the destination's name.
const (
	// SigningSuffix has what deliveries to the destination are signed with.
	SigningSuffix = ".signing"
	// CredentialsSuffix has what receivers log in with.
	CredentialsSuffix = ".credentials"
)

// Retention says how long the ledger keeps what it no longer needs.
type Retention struct {
	Claims   Duration `json:"claims"`
	Payloads Duration `json:"payloads"`
	// Attempts is 0 where they are kept as long as payloads, and Failed where failed deliveries are kept until a replay.
	Attempts Duration `json:"attempts,omitzero"`
	Failed   Duration `json:"failed,omitzero"`
}

// Duration is a time.Duration written as Go writes it, such as "1m0s".
type Duration time.Duration
