// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookonce/hookonce/internal/scheme"
)

// TestSignThenVerify: what SignRequest signs in any scheme, Verify accepts as what it is; with any one byte changed of what
// is signed, it does not.
func TestSignThenVerify(t *testing.T) {
	schemes := everyScheme(t)
	var names []string
	for name := range schemes {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		s := schemes[rapid.SampledFrom(names).Draw(t, "scheme")]
		switch s.Signature.Algorithm {
		case scheme.SHA256, scheme.SHA384, scheme.SHA512:
			s.Signature.Algorithm = rapid.SampledFrom([]scheme.Algorithm{scheme.SHA256, scheme.SHA384, scheme.SHA512}).Draw(t, "algorithm")
		case scheme.SHA1, scheme.Ed25519, scheme.Token:
		}
		secret := []byte(rapid.StringMatching(`[!-~]{1,80}`).Draw(t, "key"))
		other := append(slices.Clone(secret), 'x')
		id := rapid.StringMatching(`[!-,/-9;-~]{1,255}`).Draw(t, "id")
		body, err := Body(s, id, rapid.StringMatching(`[!-9;-~]{1,40}`).Draw(t, "type"), rapid.StringMatching(`[!-9;-~]{1,40}`).Draw(t, "resource"))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(200_000_000, 4_000_000_000).Draw(t, "at"), 0)
		r, err := SignRequest(s, signingKeys(s, secret), Draft{EventID: id, EventType: "t", URL: publicURL + "?a=1", Body: body}, at)
		if err != nil {
			t.Fatal(err)
		}
		received := at.Add(time.Duration(rapid.Int64Range(-300, 300).Draw(t, "skew")) * time.Second)
		secrets := secretsFor(s, other, secret)
		got, err := Verify(s, secrets, r, received, tolerance)
		if err != nil || got.Fingerprint != string(secret) || len(got.Events) != 1 || got.Events[0].ID == "" {
			t.Fatalf("got %+v, %v", got, err)
		}
		if first := s.EventID[0]; (first.Header != "" || len(first.Path) > 0) && got.Events[0].ID != id {
			t.Fatalf("got the id %q, want %q", got.Events[0].ID, id)
		}
		if s.Signature.Algorithm == scheme.Token {
			return
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "change"), 0)) //nolint:gosec // rapid's choice
		one := subject{verifier: New(s), request: r, another: r}
		changed := clone(r)
		if what := one.mutate(random, changed); what != "" {
			if got, err := Verify(s, secrets, changed, received, tolerance); err == nil {
				t.Fatalf("a changed %s was accepted as %+v", what, got)
			}
		}
	})
}
