// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package receiverstatus is the JSON document that a receiver serves at /status on its private port, and by which the
// operator knows what every receiver has loaded and what the ledger holds. It never contains a secret.
package receiverstatus

import "time"

// Path of the document on the private port.
const Path = "/status"

// PrivatePort is the name of the container port that serves it.
const PrivatePort = "private"

// Status is what one receiver knows.
type Status struct {
	// Version of the receiver's build.
	Version string `json:"version"`
	// Endpoint is namespace/name.
	Endpoint string  `json:"endpoint"`
	Config   Config  `json:"config"`
	Keyring  Keyring `json:"keyring"`
	// Secrets that the receiver accepts or knows, with their use since it started.
	Secrets []Secret `json:"secrets,omitempty"`
	// Source is what the receiver sees of the user's mounted Secret.
	Source Source `json:"source"`
	// Rejections counts refused requests by cause since the receiver started. Those answered 503 are not among them.
	Rejections map[string]int64 `json:"rejections,omitempty"`
	Database   Database         `json:"database"`
	// Effects lists the effects whose function failed the last time that it was called, with that failure.
	Effects []Effect `json:"effects,omitempty"`
	// Destinations lists those that get nothing for a reason that waiting does not mend.
	Destinations []Destination `json:"destinations,omitempty"`
	// Deliveries are counts from the ledger; nil while the database has never answered.
	Deliveries *Deliveries `json:"deliveries,omitempty"`
	// Replays are the endpoint's latest, of all receivers; at most 50.
	Replays []Replay `json:"replays,omitempty"`
}

// Config says which configuration the receiver runs.
type Config struct {
	// Digest is the hexadecimal SHA-256 of the loaded config.json.
	Digest string `json:"digest,omitempty"`
	// Error says why the mounted configuration cannot be used; the last usable one stays in force.
	Error string `json:"error,omitempty"`
}

// Keyring says which keyring the receiver runs.
type Keyring struct {
	Revision int64     `json:"revision"`
	Loaded   time.Time `json:"loaded,omitzero"`
	Error    string    `json:"error,omitempty"`
}

// Roles of a Secret.
const (
	RoleCurrent     = "current"
	RolePrevious    = "previous"
	RoleProvisional = "provisional"
)

// Secret is one secret and its use.
type Secret struct {
	// Fingerprint in full, as in the keyring.
	Fingerprint string    `json:"fingerprint"`
	Role        string    `json:"role"`
	NotAfter    time.Time `json:"notAfter,omitzero"`
	Uses        int64     `json:"uses"`
	LastUsed    time.Time `json:"lastUsed,omitzero"`
}

// Source is what the receiver sees of the user's mounted Secret.
type Source struct {
	Present bool `json:"present"`
	// Fingerprint of the mounted bytes, if they can be a key.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Problem says why they cannot be a key; never the bytes.
	Problem string `json:"problem,omitempty"`
}

// Database says whether the receiver can use Postgres.
type Database struct {
	// Reachable says that events can be recorded: Postgres answers, has the schema that the receiver writes to, and took the
	// last event that was written in the last 5 minutes. It is true exactly if the reason is Connected.
	Reachable bool `json:"reachable"`
	// Reason is a CamelCase word: Connected, Timeout, AuthFailed, ConnectionRefused, SchemaMissing, SchemaTooNew,
	// WriteFailed, DiskFull, Failed.
	Reason string `json:"reason,omitempty"`
	// Message says more of the reason. With Connected it is empty, or says that a new connection URI cannot be used and the
	// one before it is. It never has a password.
	Message string    `json:"message,omitempty"`
	Checked time.Time `json:"checked,omitzero"`
	// Durable says whether Postgres keeps what it acknowledges; Settings are what that was judged by, and absent if Postgres
	// did not answer.
	Durable  bool              `json:"durable"`
	Settings map[string]string `json:"settings,omitempty"`
}

// Effect is the last failure of an effect that has not succeeded since. Its events are answered with 503 meanwhile.
type Effect struct {
	Name     string `json:"name"`
	Function string `json:"function"`
	// Code is the SQLSTATE; the function's own message may quote the event, so it is not here.
	Code string `json:"code"`
	// Failures counts the calls that failed since the last success, in this receiver.
	Failures int64     `json:"failures"`
	Since    time.Time `json:"since"`
}

// The fields of a destination that name Secrets.
const (
	FieldSigning     = "signingSecretRef"
	FieldCredentials = "nats.credentialsSecretRef"
)

// Destination is one that gets nothing; its deliveries wait, without attempts.
type Destination struct {
	Name string `json:"name"`
	// Field that names the Secret which is missing or cannot be used.
	Field string `json:"field"`
	// Problem says why; never a secret.
	Problem string `json:"problem"`
}

// Deliveries are counts from the ledger, over all receivers of the endpoint. Pending and Failed are at most 100,000: a
// larger number is shown as that one, and OldestPending is then the oldest of those counted.
type Deliveries struct {
	Observed      time.Time `json:"observed"`
	Received      int64     `json:"received"`
	Processed     int64     `json:"processed"`
	Duplicates    int64     `json:"duplicates"`
	Rejected      int64     `json:"rejected"`
	Pending       int64     `json:"pending"`
	Failed        int64     `json:"failed"`
	OldestPending time.Time `json:"oldestPending,omitzero"`
	LastFailure   *Failure  `json:"lastFailure,omitempty"`
}

// Failure is a delivery that ran out of attempts.
type Failure struct {
	Time        time.Time `json:"time"`
	Destination string    `json:"destination"`
	EventID     string    `json:"eventID"`
	Reason      string    `json:"reason"`
}

// Replay is how far a replay is. Numbers are of deliveries.
type Replay struct {
	// ID is the DeliveryReplay's UID, or a number of its own where a person ran the command.
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Created time.Time `json:"created"`
	// Matched were chosen. Sent of them are back in the outbox; Skipped ones were on their way already, or are gone.
	Matched int64 `json:"matched"`
	Sent    int64 `json:"sent"`
	Skipped int64 `json:"skipped"`
	// Succeeded were delivered, Failed ran out of attempts. Failing ones failed at their first attempt, whatever came then.
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
	Failing   int64 `json:"failing"`
	// Ended says that no more is sent; Stopped, that this was before all was.
	Ended   bool `json:"ended"`
	Stopped bool `json:"stopped,omitempty"`
}
