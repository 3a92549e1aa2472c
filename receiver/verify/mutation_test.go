// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// mutationSeed is that of the run; HOOKONCE_SEED replaces it.
const mutationSeed = 20_261_130

// TestMutatedRequests: of a million requests that differ from a signed one in what is signed, none is accepted.
func TestMutatedRequests(t *testing.T) {
	seed := uint64(mutationSeed)
	if text := os.Getenv("HOOKONCE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	count := 1_000_000
	if testing.Short() {
		count = 100_000
	}
	t.Logf("seed %d, %d requests", seed, count)
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same requests on every run
	subjects := mutationSubjects(t)
	causes, changes, tried := map[string]int{}, map[string]int{}, 0
	for tried < count {
		one := &subjects[tried%len(subjects)]
		r := clone(one.request)
		change := one.mutate(random, r)
		if change == "" {
			continue // by chance it says the same
		}
		tried++
		changes[change]++
		got, err := one.verifier.Verify(one.secrets, r, now, tolerance)
		if err == nil || afterSignature(one.verifier, causeOf(t, err)) {
			t.Fatalf("seed %d, request %d: %s with a changed %s is accepted as %+v (%v)\nsigned: %s\nsent:   %s",
				seed, tried, one.verifier.scheme.Name, change, got, err, written(one.request), written(r))
		}
		causes[causeOf(t, err)]++
	}
	t.Logf("accepted 0 of %d; changes %v; causes %v", tried, changes, causes)
	for _, change := range []string{"signature", "timestamp", "id", "body", "url", "item", "form", "boundary", "other body"} {
		if changes[change] < 100 {
			t.Errorf("only %d requests had a changed %s", changes[change], change)
		}
	}
}

// afterSignature says whether a request is refused for a reason that is looked at once its signature holds: then the
// signature was taken for right.
func afterSignature(v *Verifier, cause string) bool {
	early := v.form || len(v.scheme.Signature.Path) > 0
	return !early && (cause == receiver.CauseMalformedBody || cause == receiver.CauseBadResourceID)
}

// subject is a signed request and how to verify it.
type subject struct {
	verifier *Verifier
	secrets  []receiver.Secret
	request  *Request
	// another event of the same provider.
	another *Request
}

func mutationSubjects(t testing.TB) []subject {
	t.Helper()
	var out []subject
	all := everyScheme(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if s := all[name]; s.Signature.Algorithm != scheme.Token {
			out = append(out, subjectsOf(t, s)...)
		}
	}
	return out
}

// subjectsOf are signed requests of a scheme: one as small as can be, and one that is rich in what stands between values.
func subjectsOf(t testing.TB, s scheme.Scheme) []subject {
	t.Helper()
	bodies := []string{string(sampleBody(t, s))}
	switch {
	case s.Batch == nil:
		bodies = append(bodies, `{"n":"1700000000.1700000000:v0,1","event_id":"e.1:2","id":"e.1:2","type":"t","event":{"type":"t"},"data":{"id":1}}`)
	case s.Batch.Member != "":
		bodies = append(bodies, `{"live":"false","notificationItems":[{"NotificationRequestItem":{"pspReference":"psp1","originalReference":"",`+
			`"merchantAccountCode":"acct","merchantReference":"a:b:c","amount":{"value":1000,"currency":"EUR"},"eventCode":"CAPTURE","success":"true"}}]}`)
	}
	if s.FormObject {
		bodies = append(bodies, "From=%2B1415&To=%2B1800&Body=a+b%26c&MessageSid=SM1&MessageStatus=sent&event_id=e1")
	}
	if s.FormField != "" {
		bodies = append(bodies, "payload="+url.QueryEscape(string(sampleBody(t, s))))
	}
	var out []subject
	for i, body := range bodies {
		out = append(out, subject{
			verifier: New(s), secrets: secretsFor(s, key, oldKey),
			request: signedRequest(t, s, body, now, key),
			another: signedRequest(t, s, bodies[(i+1)%len(bodies)]+" ", now, oldKey),
		})
		if _, err := out[i].verifier.Verify(out[i].secrets, out[i].request, now, tolerance); err != nil {
			t.Fatalf("%s: %s: %v", s.Name, body, err)
		}
	}
	return out
}

func written(r *Request) string { return fmt.Sprintf("%s %q %q %q", r.Method, r.URL, r.Header, r.Body) }

func clone(r *Request) *Request {
	return &Request{Method: r.Method, URL: r.URL, Header: r.Header.Clone(), Body: bytes.Clone(r.Body)}
}

// mutate changes something that is signed, and returns what; empty if the request still says the same.
func (one *subject) mutate(random *rand.Rand, r *Request) string {
	v := one.verifier
	switch random.IntN(6) {
	case 0:
		return one.mutateSignature(random, r)
	case 1:
		if v.scheme.Timestamp == nil || v.shared {
			break
		}
		return mutateHeader(random, r, v.own.timestamp, "timestamp")
	case 2:
		if !v.signsID {
			break
		}
		return mutateHeader(random, r, v.own.id, "id")
	case 3:
		if !v.signsURL {
			break
		}
		return mutateQuery(random, r)
	case 4:
		return one.moveBoundary(random, r)
	case 5:
		if len(v.scheme.Signature.Path) > 0 {
			break // it brings its own signature
		}
		r.Body = bytes.Clone(one.another.Body)
		if one.says(r) == one.says(one.request) {
			return ""
		}
		return "other body"
	}
	return one.mutateBody(random, r)
}

func (one *subject) mutateSignature(random *rand.Rand, r *Request) string {
	v := one.verifier
	if v.own.signature == "" {
		return one.mutateItem(random, r)
	}
	before := r.Header.Get(v.own.signature)
	after := mangle(random, before)
	if one.stillSigned(after) {
		return ""
	}
	r.Header[v.own.signature] = []string{after}
	return "signature"
}

// stillSigned says whether a header has each element of the signed one: others beside them are allowed, and hexadecimal
// digits mean the same in either case.
func (one *subject) stillSigned(header string) bool {
	signature := one.verifier.scheme.Signature
	split := func(text string) []string {
		if signature.Separator == "" {
			return []string{text}
		}
		return strings.Split(text, signature.Separator)
	}
	elements := split(header)
	for _, want := range split(one.request.Header.Get(one.verifier.own.signature)) {
		if !slices.ContainsFunc(elements, func(element string) bool {
			return element == want || (signature.Encoding == scheme.Hex && strings.HasPrefix(element, signature.Prefix) &&
				strings.HasPrefix(want, signature.Prefix) && strings.EqualFold(element, want))
		}) {
			return false
		}
	}
	return true
}

func mutateHeader(random *rand.Rand, r *Request, name, what string) string {
	before := r.Header.Get(name)
	after := mangle(random, before)
	if after == before {
		return ""
	}
	r.Header[name] = []string{after}
	return what
}

// mutateQuery leaves what is before the query: that is ours.
func mutateQuery(random *rand.Rand, r *Request) string {
	base, query, _ := strings.Cut(r.URL, "?")
	after := mangle(random, query)
	if after == query {
		return ""
	}
	r.URL = base + "?" + after
	return "url"
}

func (one *subject) mutateBody(random *rand.Rand, r *Request) string {
	if len(one.verifier.scheme.Signature.Path) > 0 {
		return one.mutateItem(random, r)
	}
	r.Body = []byte(mangle(random, string(r.Body)))
	if one.says(r) == one.says(one.request) {
		return ""
	}
	if one.verifier.form && !isJSON(one.request.Body) {
		return "form"
	}
	return "body"
}

// says is what of the body is signed.
func (one *subject) says(r *Request) string {
	if one.verifier.form {
		if form, err := signedForm(r); err == nil && form != nil {
			return string(form)
		}
	}
	return string(r.Body)
}

// mutateItem changes a signed member of an item, or its signature.
func (one *subject) mutateItem(random *rand.Rand, r *Request) string {
	v := one.verifier
	s := v.newScratch()
	items, err := s.items(r.Body, v.scheme.Batch)
	if err != nil || s.scan(items[0].of(r.Body), v.tree) != nil {
		return ""
	}
	indices := []int{v.signature}
	for i := range v.parts {
		if v.parts[i].index >= 0 {
			indices = append(indices, v.parts[i].index)
		}
	}
	member := s.values[indices[random.IntN(len(indices))]].text
	at := bytes.Index(r.Body, member)
	if len(member) == 0 || at < 0 {
		return ""
	}
	changed := mangle(random, string(member))
	body := slices.Concat(r.Body[:at], []byte(changed), r.Body[at+len(member):])
	if bytes.Equal(body, r.Body) {
		return ""
	}
	before := fmt.Sprintf("%q", s.valuesOf(indices))
	if again, err := s.items(body, v.scheme.Batch); err == nil && s.scan(again[0].of(body), v.tree) == nil &&
		fmt.Sprintf("%q", s.valuesOf(indices)) == before {
		return ""
	}
	r.Body = body
	return "item"
}

func (s *scratch) valuesOf(indices []int) []string {
	out := make([]string, len(indices))
	for i, index := range indices {
		out[i] = string(s.values[index].text)
	}
	return out
}

// moveBoundary leaves the string to sign as it is, and reads it in another way: the end of one value is moved.
func (one *subject) moveBoundary(random *rand.Rand, r *Request) string {
	v := one.verifier
	type place struct {
		get func() string
		set func(string)
	}
	header := func(name string) place {
		return place{
			func() string { return r.Header.Get(name) },
			func(value string) { r.Header[http.CanonicalHeaderKey(name)] = []string{value} },
		}
	}
	var places []place
	var between []string
	literal := ""
	for i := range v.parts {
		var at place
		switch v.parts[i].Placeholder {
		case scheme.PlaceholderID:
			at = header(v.own.id)
		case scheme.PlaceholderTimestamp:
			if v.shared {
				return ""
			}
			at = header(v.own.timestamp)
		case scheme.PlaceholderURL:
			at = place{func() string { return r.URL }, func(value string) { r.URL = value }}
		case scheme.PlaceholderBody:
			at = place{func() string { return string(r.Body) }, func(value string) { r.Body = []byte(value) }}
		case scheme.PlaceholderMethod:
			at = place{func() string { return r.Method }, func(value string) { r.Method = value }}
		case "":
			literal = v.parts[i].Literal
			continue
		default:
			return ""
		}
		places, between, literal = append(places, at), append(between, literal), ""
	}
	if len(places) < 2 {
		return ""
	}
	i := 1 + random.IntN(len(places)-1)
	left, right, stop := places[i-1], places[i], between[i]
	whole := left.get() + stop + right.get()
	cut := random.IntN(len(whole) + 1)
	next := strings.Index(whole[cut:], stop)
	if next < 0 || cut+next == len(left.get()) {
		return ""
	}
	cut += next
	left.set(whole[:cut])
	right.set(whole[cut+len(stop):])
	if v.signsURL && !strings.HasPrefix(r.URL, publicURL) {
		return "" // that is not the sender's to say
	}
	return "boundary"
}

// mangle changes a text in one to three places.
func mangle(random *rand.Rand, text string) string {
	out := []byte(text)
	for range 1 + random.IntN(3) {
		at := random.IntN(len(out) + 1)
		switch kind := random.IntN(6); {
		case kind == 0 || at == len(out):
			out = slices.Insert(out, at, byte(random.IntN(256)))
		case kind == 1:
			out = slices.Delete(out, at, at+1)
		case kind == 2:
			out[at] ^= 1 << random.IntN(8)
		case kind == 3:
			out[at] = "0123456789abcdefABCDEF,;. =:\"{}[]&?%+"[random.IntN(37)]
		case kind == 4:
			other := random.IntN(len(out))
			out[at], out[other] = out[other], out[at]
		default:
			out = slices.Insert(out, at, out[at:min(at+1+random.IntN(8), len(out))]...)
		}
	}
	return string(out)
}
