// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package doctor finds out why a delivery does not verify, and which single change would make it. It is pure. Each suspicion
// is a hypothesis of its own, which proposes a changed delivery, secret or scheme; the verifier that receivers use judges. Of
// secrets, and of what is made from them, nothing is said.
package doctor

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// Judge is verify.Verify.
type Judge func(
	s scheme.Scheme, secrets []receiver.Secret, r *receiver.Request, now time.Time, tolerance time.Duration,
) (receiver.Verified, error)

// Case is what a receiver had when it judged.
type Case struct {
	Scheme scheme.Scheme
	// Secrets in the order in which they are spoken of, from 0.
	Secrets []Secret
	Request *receiver.Request
	// Host is what the request was sent to, if it is known: a hint at another public URL.
	Host      string
	Now       time.Time
	Tolerance time.Duration
}

// Secret is the text of a signing secret, as its file has it.
type Secret struct {
	Text []byte
	// Expired secrets are accepted no more.
	Expired bool
}

// Diagnosis says why a delivery was rejected and what would make it verify.
type Diagnosis struct {
	Verifies bool `json:"verifies"`
	// Reason is the cause of the rejection, and Explanation the same in plain words.
	Reason      string `json:"reason"`
	Explanation string `json:"explanation"`
	// Findings are changes of which each one alone makes it verify.
	Findings []Finding `json:"findings"`
	// Notes are what else is worth knowing.
	Notes []string `json:"notes"`
	// Tried is what was tried if nothing was found.
	Tried []string `json:"tried"`
}

// Finding is one change that makes the delivery verify.
type Finding struct {
	// Name of the hypothesis.
	Name string `json:"name"`
	// Secret that it is about, counted from 0; nil if it is about none.
	Secret  *int   `json:"secret,omitempty"`
	Message string `json:"message"`
}

// attempt is what the verifier is given.
type attempt struct {
	scheme    scheme.Scheme
	secrets   []Secret
	keys      [][]byte
	request   *receiver.Request
	now       time.Time
	tolerance time.Duration
}

// proposal is a changed attempt, the secret that was changed or -1, and what to do if it verifies.
type proposal struct {
	attempt attempt
	secret  int
	message string
}

// Diagnose examines a case.
func Diagnose(c Case, judge Judge) Diagnosis {
	d := Diagnosis{Findings: []Finding{}, Notes: []string{}, Tried: []string{}}
	base, problems := newAttempt(c)
	verified, err := base.judge(judge)
	if err == nil {
		d.Verifies = true
		d.Explanation = "the signature holds, and the event can be read"
		d.Notes = append(d.Notes, aboutMatch(verified.Fingerprint)...)
		return d
	}
	d.Reason = causeOf(err)
	d.Explanation = explanations[d.Reason]
	if base.holds(err) {
		d.Notes = append(d.Notes, "the signature holds: neither the secret nor the bytes are at fault")
		return d
	}
	for _, i := range sortedKeys(problems) {
		d.Notes = append(d.Notes, fmt.Sprintf("secret %d cannot be used as it is: %s", i, problems[i]))
	}
	d.Notes = append(d.Notes, aboutPublicKeys(base)...)
	if base.settleClock(&d, judge) {
		return d
	}
	seen := map[[sha256.Size]byte]bool{base.digest(): true}
	for _, h := range Hypotheses {
		d.test(h, base, c, judge, seen)
	}
	if len(d.Findings) > 0 {
		return d
	}
	d.Notes = append(d.Notes, aboutHeaders(base)...)
	d.Notes = append(d.Notes, aboutQuery(base)...)
	d.Notes = append(d.Notes, aboutSize(base)...)
	for _, h := range Hypotheses {
		if h.Name != bodyReserialized || len(base.request.Body) <= maxRewritten {
			d.Tried = append(d.Tried, h.Tries)
		}
	}
	return d
}

func (d *Diagnosis) test(h Hypothesis, base attempt, c Case, judge Judge, seen map[[sha256.Size]byte]bool) {
	for p := range h.propose(base, c) {
		digest := p.attempt.digest()
		if seen[digest] {
			continue
		}
		seen[digest] = true
		if _, err := p.attempt.judge(judge); !p.attempt.holds(err) {
			continue
		}
		finding := Finding{Name: h.Name, Message: p.message}
		if p.secret >= 0 {
			finding.Secret = &p.secret
		}
		d.Findings = append(d.Findings, finding)
		return
	}
}

// newAttempt decodes the secrets, and says which of them cannot be used and why.
func newAttempt(c Case) (attempt, map[int]error) {
	a := attempt{
		scheme: c.Scheme, secrets: c.Secrets, keys: make([][]byte, len(c.Secrets)), request: c.Request, now: c.Now, tolerance: c.Tolerance,
	}
	problems := map[int]error{}
	for i, secret := range c.Secrets {
		key, err := c.Scheme.DecodeSecret(secret.Text)
		if err != nil {
			problems[i] = err
			continue
		}
		a.keys[i] = key
	}
	return a, problems
}

func (a attempt) judge(judge Judge) (receiver.Verified, error) {
	var secrets []receiver.Secret
	for i, key := range a.keys {
		if len(key) == 0 {
			continue
		}
		secret := receiver.Secret{Key: key, Fingerprint: strconv.Itoa(i)}
		if a.secrets[i].Expired {
			secret.NotAfter = time.Unix(0, 1)
		}
		secrets = append(secrets, secret)
	}
	return judge(a.scheme, secrets, a.request, a.now, a.tolerance)
}

// holds says whether the signature holds, whatever the event is worth.
func (a attempt) holds(err error) bool {
	switch causeOf(err) {
	case "", receiver.CauseMalformedBody, receiver.CauseBadResourceID:
		return true
	case receiver.CauseMissingEventID, receiver.CauseBadEventID:
		// An id that is signed is looked at before the signature.
		return !a.scheme.Signs(scheme.PlaceholderID)
	}
	return false
}

// causeOf is empty for nil.
func causeOf(err error) string {
	if err == nil {
		return ""
	}
	if rejection, ok := errors.AsType[*receiver.Rejection](err); ok {
		return rejection.Cause
	}
	return err.Error()
}

// describing returns the attempt with a scheme that a user would have to describe, since it is no preset's.
func (a attempt) describing(change func(s *scheme.Scheme)) attempt {
	a.scheme = a.scheme.Clone()
	a.scheme.Name = scheme.HMAC
	change(&a.scheme)
	a.scheme.EventIDSigned = a.scheme.CoversID()
	return a
}

func (a attempt) withKey(i int, key []byte) attempt {
	a.keys = make([][]byte, len(a.keys))
	a.keys[i] = key
	return a
}

func (a attempt) withBody(body []byte) attempt {
	request := *a.request
	request.Body = body
	a.request = &request
	return a
}

func (a attempt) withURL(url string) attempt {
	request := *a.request
	request.URL = url
	a.request = &request
	return a
}

// withHeader replaces all values of a header; none removes it.
func (a attempt) withHeader(name string, values ...string) attempt {
	request := *a.request
	request.Header = request.Header.Clone()
	request.Header.Del(name)
	for _, value := range values {
		request.Header.Add(name, value)
	}
	a.request = &request
	return a
}

// digest tells attempts apart, so that none is judged twice: what two hypotheses propose is the finding of the first.
func (a attempt) digest() [sha256.Size]byte {
	digest := sha256.New()
	encoder := json.NewEncoder(digest)
	request := *a.request
	// The body may be large: it is not encoded.
	request.Body = nil
	body := sha256.Sum256(a.request.Body)
	for _, part := range []any{a.scheme, a.secrets, a.keys, request, body, a.now} {
		// Nothing in here fails to encode, nor does a digest to be written.
		if err := encoder.Encode(part); err != nil {
			break
		}
	}
	return [sha256.Size]byte(digest.Sum(nil))
}

func aboutMatch(fingerprint string) []string {
	if fingerprint == "0" || fingerprint == "" {
		return nil
	}
	return []string{fmt.Sprintf("it was signed with secret %s, and not with the first one: that is right during a rotation; "+
		"otherwise the files are in the wrong order, or the sender still has another secret", fingerprint)}
}

func sortedKeys(problems map[int]error) []int {
	var keys []int
	for i := range problems {
		keys = append(keys, i)
	}
	slices.Sort(keys)
	return keys
}
