// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
)

// weakKeys are all encodings of the points of small order, canonical and not, as listed in "Taming the many EdDSAs".
var weakKeys = []string{
	"0100000000000000000000000000000000000000000000000000000000000000",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0000000000000000000000000000000000000000000000000000000000000080",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
	"0100000000000000000000000000000000000000000000000000000000000080",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
}

// forgeable says whether the signature that needs no private key fits some message under a key.
func forgeable(key []byte) bool {
	signature := make([]byte, ed25519.SignatureSize)
	signature[0] = 1
	for i := range 256 {
		if ed25519.Verify(key, []byte{byte(i)}, signature) {
			return true
		}
	}
	return false
}

// TestKeysOfEverybody: under these keys one signature fits many messages, so they are refused, however they are written.
func TestKeysOfEverybody(t *testing.T) {
	custom := Scheme{Signature: Signature{Algorithm: Ed25519}, Key: Key{Encoding: Hex, MinBytes: 32, MaxBytes: 32}}
	standard, _ := Preset(StandardWebhooksEd25519)
	for _, digits := range weakKeys {
		key, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		if !forgeable(key) {
			t.Errorf("%s: nothing is wrong with it", digits)
		}
		if IsPublicKey(key) {
			t.Errorf("%s is somebody's", digits)
		}
		for secret, s := range map[string]Scheme{digits: custom, "whpk_" + base64.StdEncoding.EncodeToString(key): standard} {
			got, err := s.DecodeSecret([]byte(secret))
			var problem *SecretProblem
			if got != nil || !errors.As(err, &problem) || problem.Reason != SecretUndecodable || !strings.Contains(problem.Message, "copy the provider's own") {
				t.Errorf("%s: got %x, %v", secret, got, err)
			}
		}
	}
}

// TestPublicKeys: each key of a pair passes, and what is no point, or is written in a second way, does not.
func TestPublicKeys(t *testing.T) {
	s := Scheme{Signature: Signature{Algorithm: Ed25519}, Key: Key{Encoding: Hex, MinBytes: 32, MaxBytes: 32}}
	decoded := func(key []byte) bool {
		got, err := s.DecodeSecret([]byte(hex.EncodeToString(key)))
		if err == nil && !slices.Equal(got, key) {
			t.Errorf("%x became %x", key, got)
		}
		return err == nil
	}
	points := 0
	for i := range 200 {
		seed := make([]byte, ed25519.SeedSize)
		seed[0] = byte(i)
		public, _ := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
		if !decoded(public) || forgeable(public) {
			t.Errorf("%x is refused", public)
		}
		// About half of all numbers are the y of a point.
		seed[1] = 1
		if decoded(seed) {
			points++
		}
	}
	if points < 60 || points > 140 {
		t.Errorf("%d of 200 numbers are points", points)
	}
	// 2^255-19+3 is 3 in a second way: 3 is a point's.
	second := slices.Repeat([]byte{0xff}, ed25519.PublicKeySize)
	second[0], second[31] = 0xed+3, 0x7f
	if third := append([]byte{3}, make([]byte, 31)...); !decoded(third) || decoded(second) || IsPublicKey(second) || IsPublicKey(third[:31]) {
		t.Error("3 has two ways to be written, or a length of its own")
	}
	secret := []byte("a-symmetric-secret")
	if key, err := (Scheme{Key: rawKey}).DecodeSecret(secret); err != nil || !slices.Equal(key, secret) {
		t.Errorf("other algorithms: got %q, %v", key, err)
	}
}
