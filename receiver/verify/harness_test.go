// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// publicURL is the endpoint's, where it is signed.
const publicURL = "https://hooks.example.com/hook"

// bodyFor has an id, a type and a resource where the schemes that are tested by themselves look for them.
const bodyFor = `{"id":"evt_123","type":"invoice.paid","event_id":"evt_123","event_type":"invoice.paid","data":{"id":"r_1","invoice_id":"r_1","object":{"id":"r_1"}}}`

// secretsOf are the secrets of schemes whose keys are shared.
func secretsOf(keys ...[]byte) []receiver.Secret {
	var secrets []receiver.Secret
	for _, k := range keys {
		secrets = append(secrets, receiver.Secret{Key: k, Fingerprint: string(k)})
	}
	return secrets
}

// secretsFor are the secrets with which what the keys sign is verified: public ones for Ed25519.
func secretsFor(s scheme.Scheme, keys ...[]byte) []receiver.Secret {
	secrets := secretsOf(keys...)
	if s.Signature.Algorithm == scheme.Ed25519 {
		for i := range secrets {
			secrets[i].Key = privateKey(secrets[i].Key).Public().(ed25519.PublicKey)
		}
	}
	return secrets
}

// privateKey makes an Ed25519 key of any text.
func privateKey(text []byte) ed25519.PrivateKey {
	seed := sha256.Sum256(text)
	return ed25519.NewKeyFromSeed(seed[:])
}

// signingKeys turn the texts of these tests into what the scheme signs with.
func signingKeys(s scheme.Scheme, keys ...[]byte) [][]byte {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = k
		if s.Signature.Algorithm == scheme.Ed25519 {
			out[i] = privateKey(k)
		}
	}
	return out
}

// signedRequest is what a provider would send at the moment at.
func signedRequest(t testing.TB, s scheme.Scheme, body string, at time.Time, keys ...[]byte) *Request {
	t.Helper()
	draft := Draft{EventID: "evt_123", EventType: "push", ResourceID: "r_1", URL: publicURL, Body: []byte(body)}
	r, err := SignRequest(s, signingKeys(s, keys...), draft, at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sampleBody has an id, a type and a resource wherever the scheme looks for them in the body.
func sampleBody(t testing.TB, s scheme.Scheme) []byte {
	t.Helper()
	body, err := Body(s, "evt_123", "invoice.paid", "r_1")
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// sampleRequest is a whole delivery of the scheme.
func sampleRequest(t testing.TB, s scheme.Scheme, at time.Time, keys ...[]byte) *Request {
	t.Helper()
	return signedRequest(t, s, string(sampleBody(t, s)), at, keys...)
}

func macOf(newHash func() hash.Hash, key []byte, message string) []byte {
	mac := hmac.New(newHash, key)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}

func expectCause(t testing.TB, s scheme.Scheme, secrets []receiver.Secret, r *Request, cause string, status int) {
	t.Helper()
	got, err := Verify(s, secrets, r, now, tolerance)
	if err == nil {
		t.Errorf("accepted as %+v, want %s", got, cause)
		return
	}
	if found := rejectionOf(t, err); found.Cause != cause || found.Status != status {
		t.Errorf("got %s (%d), want %s (%d)", found.Cause, found.Status, cause, status)
	}
}

func expectAccepted(t testing.TB, s scheme.Scheme, secrets []receiver.Secret, r *Request) accepted {
	t.Helper()
	got, err := Verify(s, secrets, r, now, tolerance)
	if err != nil {
		t.Errorf("rejected: %v", err)
	}
	return only(got)
}

// accepted is what a request with one event says, in a form that can be compared.
type accepted struct {
	EventID, EventType, ResourceID, Fingerprint string
}

// only returns the zero value unless there is exactly one event.
func only(v Verified) accepted {
	if len(v.Events) != 1 {
		return accepted{}
	}
	e := v.Events[0]
	return accepted{EventID: e.ID, EventType: e.Type, ResourceID: e.ResourceID, Fingerprint: v.Fingerprint}
}

// everyScheme is all presets, and one that a user describes.
func everyScheme(t testing.TB) map[string]scheme.Scheme {
	t.Helper()
	all := map[string]scheme.Scheme{"HMAC": described(t, scheme.Scheme{
		Signature:    scheme.Signature{Header: "X-Test-Signature", Prefix: "v0="},
		StringToSign: "v0:{timestamp}:{body}",
		Timestamp:    &scheme.Timestamp{Header: "X-Test-Timestamp"},
		EventID:      inID,
	})}
	for _, name := range scheme.Names() {
		all[name] = preset(t, name)
	}
	return all
}

// macSchemes are those of everyScheme that have an HMAC in a header.
func macSchemes(t testing.TB) map[string]scheme.Scheme {
	t.Helper()
	all := everyScheme(t)
	for name, s := range all {
		if algorithm := s.Signature.Algorithm; s.Signature.Header == "" || algorithm == scheme.Token || algorithm == scheme.Ed25519 {
			delete(all, name)
		}
	}
	return all
}
