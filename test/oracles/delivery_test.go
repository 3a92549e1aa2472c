// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package oracles

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // some libraries accept it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// publicURL is where the provider sends to.
const publicURL = "https://hooks.example.com/webhooks/payments"

// grammar is how a provider writes a delivery. It says again what the scheme says, so that a mistake in the scheme cannot
// hide in the deliveries.
type grammar struct {
	// The names of headers; empty where the provider has none.
	signature, timestamp, id, eventType string
	// prefix of a signature and separator of the elements of its header.
	prefix, separator string
	// timePrefix of the timestamp among those elements.
	timePrefix string
	base64     bool
	sha1       bool
	// formSigned says that head has the body in it already, as the fields of a form.
	formSigned bool
	// head is what is signed before the body.
	head func(d *delivery) string
	// newSecret returns a secret's text.
	newSecret func(r *rand.Rand) string
	// keyOf returns the key that the provider signs with.
	keyOf func(secret string) []byte
	// newBody returns a body in which everything that the scheme reads is there.
	newBody func(r *rand.Rand, d *delivery) string
}

// delivery is one case: what is sent, and the secrets that both sides have.
type delivery struct {
	*grammar

	now     time.Time
	secrets []string
	// key signs; it belongs to the first secret, unless a change separated them.
	key           []byte
	eventID, kind string
	// time is the timestamp as it is written; timeSigned as it is signed, if that is another text.
	time, timeSigned string
	body             []byte
	contentType      string
	// url that it is sent to, and the one that is signed.
	url, urlSigned string
	// elements of the signature's header, and what is between them.
	elements []string
	joint    string
	header   http.Header
	changes  []string
}

// newDelivery makes a delivery with a few changes, all drawn from r.
func newDelivery(g *grammar, r *rand.Rand, now time.Time) *delivery {
	d := &delivery{grammar: g, now: now, header: http.Header{}, contentType: "application/json", url: publicURL, urlSigned: publicURL, joint: g.separator}
	d.secrets = []string{g.newSecret(r)}
	d.key = g.keyOf(d.secrets[0])
	if r.IntN(5) == 0 {
		d.secrets = append([]string{g.newSecret(r)}, d.secrets...)
	}
	d.eventID = "evt_" + strconv.FormatUint(r.Uint64(), 36)
	d.kind = pick(r, "invoice.paid", "push", "ping", "url_verification")
	d.time = strconv.FormatInt(now.Unix()+skew(r), 10)
	d.body = []byte(g.newBody(r, d))
	stages := [][]change{contents, signatures, headers}
	chosen := make([][]change, len(stages))
	for range pick(r, 0, 1, 1, 1, 1, 2, 2, 3) {
		stage := r.IntN(len(stages))
		chosen[stage] = append(chosen[stage], stages[stage][r.IntN(len(stages[stage]))])
	}
	d.apply(r, chosen[0])
	d.sign()
	d.apply(r, chosen[1])
	d.write()
	d.apply(r, chosen[2])
	return d
}

func (d *delivery) apply(r *rand.Rand, changes []change) {
	for _, c := range changes {
		if c.make(r, d) {
			d.changes = append(d.changes, c.name)
		}
	}
}

// skew is how many seconds a timestamp is from now: little, mostly, and often right at the edges of what is tolerated.
func skew(r *rand.Rand) int64 {
	if r.IntN(3) > 0 {
		return -r.Int64N(10)
	}
	return pick(r, 0, 1, 299, 300, 301, -1, -299, -300, -301, r.Int64N(800)-400, 86400, -86400)
}

func (d *delivery) sign() {
	if d.timePrefix != "" {
		d.elements = append(d.elements, d.timePrefix+d.time)
	}
	d.elements = append(d.elements, d.prefix+d.signed(sha256.New))
}

// signedTime is the timestamp as it is signed.
func (d *delivery) signedTime() string {
	if d.timeSigned != "" {
		return d.timeSigned
	}
	return d.time
}

// signed returns a signature of what the delivery is now, in the provider's encoding.
func (d *delivery) signed(newHash func() hash.Hash) string {
	if d.sha1 {
		newHash = sha1.New
	}
	return d.encoded(d.mac(newHash))
}

func (d *delivery) mac(newHash func() hash.Hash) []byte {
	mac := hmac.New(newHash, d.key)
	mac.Write([]byte(d.head(d)))
	if !d.formSigned {
		mac.Write(d.body)
	}
	return mac.Sum(nil)
}

func (d *delivery) encoded(mac []byte) string {
	if d.base64 {
		return base64.StdEncoding.EncodeToString(mac)
	}
	return hex.EncodeToString(mac)
}

func (d *delivery) write() {
	d.header.Set("Content-Type", d.contentType)
	d.header.Set(d.signature, strings.Join(d.elements, d.joint))
	for name, value := range map[string]string{d.timestamp: d.time, d.id: d.eventID, d.eventType: d.kind} {
		if name != "" {
			d.header.Set(name, value)
		}
	}
}

// String is what one needs to see why both sides disagree.
func (d *delivery) String() string {
	return fmt.Sprintf("changes: %s\nurl: %s\nnow: %s\nsecrets: %q\nheader: %q\nbody: %q",
		strings.Join(d.changes, ", "), d.url, d.now.Format(time.RFC3339Nano), d.secrets, d.header, d.body)
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// text returns so many letters.
func text(r *rand.Rand, length int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	out := make([]byte, length)
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}
	return string(out)
}

func randomBytes(r *rand.Rand, length int) []byte {
	out := make([]byte, length)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}
