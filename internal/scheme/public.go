// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"bytes"
	"crypto/ed25519"
	"math/big"
	"slices"
)

// DecodeSecret returns the key that deliveries are verified with; the error is a *SecretProblem. It is Key.Decode, and
// refuses public Ed25519 keys that are none, or that are nobody's.
func (s Scheme) DecodeSecret(secret []byte) ([]byte, error) {
	key, err := s.Key.Decode(secret)
	if err != nil || s.Signature.Algorithm != Ed25519 {
		return key, err
	}
	switch {
	case !IsPublicKey(key):
		return nil, &SecretProblem{SecretUndecodable, "the public key is a placeholder, or another one with which everybody can sign; " +
			"copy the provider's own" + afterPrefix(s.Key.Prefix)}
	case !onCurve(key):
		return nil, &SecretProblem{SecretUndecodable, "the secret has the length of a public Ed25519 key and is none; " +
			"copy the provider's again, whole" + afterPrefix(s.Key.Prefix)}
	}
	return key, nil
}

// IsPublicKey says whether somebody can own a public Ed25519 key: it has the right length, is written as RFC 8032, section
// 5.1.3, wants it, and is not of small order. One that is no point of the curve verifies nothing, and passes.
func IsPublicKey(key []byte) bool {
	if len(key) != ed25519.PublicKeySize {
		return false
	}
	var y [ed25519.PublicKeySize]byte
	copy(y[:], key)
	// The highest bit is the sign of x.
	y[len(y)-1] &= 0x7f
	slices.Reverse(y[:])
	if bytes.Compare(y[:], fieldPrime) >= 0 {
		return false
	}
	for i := range smallOrder {
		if y == smallOrder[i] {
			return false
		}
	}
	return true
}

// fieldPrime is 2^255-19, the most significant byte first.
var fieldPrime = number("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed").Bytes()

// smallOrder has the y of the eight points whose order divides the cofactor, the most significant byte first. Those of order
// 1 and 2 have 1 and -1, the two of order 4 have 0, and the four of order 8 the others: table 1 of "Taming the many EdDSAs"
// (Chalkias, Garillot, Nikolaenko, 2020). Under each of them the signature R = (0, 1), S = 0 fits one message in eight or
// more, so that everybody can sign.
var smallOrder = [...][ed25519.PublicKeySize]byte{
	{31: 1},
	point("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec"),
	{},
	point("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826"),
	point("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7"),
}

func number(digits string) *big.Int {
	n, _ := new(big.Int).SetString(digits, 16)
	return n
}

func point(digits string) (y [ed25519.PublicKeySize]byte) {
	number(digits).FillBytes(y[:])
	return y
}

// onCurve says whether there is a point with this y: whether (y²-1) / (dy²+1) is a square, as RFC 8032, section 5.1.3, has it.
func onCurve(key []byte) bool {
	y := slices.Clone(key)
	slices.Reverse(y)
	y[0] &= 0x7f
	one, prime := big.NewInt(1), new(big.Int).SetBytes(fieldPrime)
	square := new(big.Int).SetBytes(y)
	square.Mul(square, square)
	d := number("52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3")
	above, below := new(big.Int).Sub(square, one), d.Add(d.Mul(d, square), one)
	// A quotient is a square if the product is one.
	return big.Jacobi(above.Mul(above, below).Mod(above, prime), prime) >= 0
}
