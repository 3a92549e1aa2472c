// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package keyring_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/keyring"
)

// full returns a keyring with something in every field.
func full(t testing.TB) *keyring.Keyring {
	t.Helper()
	k, err := keyring.Adopt(strings.NewReader(strings.Repeat("s", keyring.SaltBytes)), candidate("alpha"), start)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"beta", "gamma", "delta"} {
		if k, _, err = k.Promote(candidate(name), start, start.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if k, err = k.Finalize(fingerprint(k, "beta"), start, start, start.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if k, err = k.Revoke(fingerprint(k, "alpha"), start); err != nil {
		t.Fatal(err)
	}
	return k
}

func encode(t testing.TB, k *keyring.Keyring) []byte {
	t.Helper()
	data, err := k.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEncodeParse(t *testing.T) {
	k := full(t)
	data := encode(t, k)
	parsed, err := keyring.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), string(encode(t, parsed))); diff != "" {
		t.Errorf("encoding is not stable:\n%s", diff)
	}
	opt := cmp.Transformer("bytes", func(s keyring.Sensitive) string { return string(s) })
	if diff := cmp.Diff(k, parsed, opt); diff != "" {
		t.Errorf("keyring after a round trip (-want +got):\n%s", diff)
	}
}

// The document is the contract between releases of the two binaries: a name that changes here breaks a rolling update.
func TestDocumentFields(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(encode(t, full(t)), &doc); err != nil {
		t.Fatal(err)
	}
	fields := func(v any) (names []string) {
		for name := range v.(map[string]any) {
			names = append(names, name)
		}
		return names
	}
	first := func(name string) any { return doc[name].([]any)[0] }
	sorted := cmp.Transformer("set", func(names []string) map[string]bool {
		set := map[string]bool{}
		for _, n := range names {
			set[n] = true
		}
		return set
	})
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"document", fields(doc), []string{"version", "revision", "salt", "current", "previous", "tombstones"}},
		{"current", fields(doc["current"]), []string{"fingerprint", "secret", "added", "source", "rotation"}},
		{"final previous", fields(doc["previous"].([]any)[1]), []string{
			"fingerprint", "secret", "added", "source", "rotation", "notAfter", "final", "overlapStart", "replacedBy", "replacedRevision",
		}},
		{"tombstone", fields(first("tombstones")), []string{"fingerprint", "time", "reason", "rotation", "revision"}},
	} {
		if diff := cmp.Diff(c.want, c.got, sorted); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	valid := func() map[string]any {
		var doc map[string]any
		if err := json.Unmarshal(encode(t, full(t)), &doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	previous := func(doc map[string]any) map[string]any { return doc["previous"].([]any)[0].(map[string]any) }
	current := func(doc map[string]any) map[string]any { return doc["current"].(map[string]any) }
	tombstone := func(doc map[string]any) map[string]any { return doc["tombstones"].([]any)[0].(map[string]any) }

	cases := map[string]struct {
		edit  func(map[string]any)
		field string
	}{
		"short salt":             {func(d map[string]any) { d["salt"] = "AAAA" }, "salt"},
		"no salt":                {func(d map[string]any) { delete(d, "salt") }, "salt"},
		"no revision":            {func(d map[string]any) { delete(d, "revision") }, "revision"},
		"no current":             {func(d map[string]any) { delete(d, "current") }, "current.fingerprint"},
		"empty current":          {func(d map[string]any) { current(d)["secret"] = "" }, "current.secret"},
		"current with deadline":  {func(d map[string]any) { current(d)["notAfter"] = "2026-10-01T00:00:00Z" }, "current.notAfter"},
		"current marked former":  {func(d map[string]any) { current(d)["replacedBy"] = "uid" }, "current"},
		"upper case fingerprint": {func(d map[string]any) { current(d)["fingerprint"] = strings.Repeat("A", 64) }, "current.fingerprint"},
		"empty previous":         {func(d map[string]any) { previous(d)["secret"] = "" }, "previous[0].secret"},
		"previous for ever":      {func(d map[string]any) { delete(previous(d), "notAfter") }, "previous[0].notAfter"},
		"final without start":    {func(d map[string]any) { previous(d)["final"] = true }, "previous[0].overlapStart"},
		"same fingerprint twice": {func(d map[string]any) { previous(d)["fingerprint"] = current(d)["fingerprint"] }, "previous[0].fingerprint"},
		"buried and alive":       {func(d map[string]any) { tombstone(d)["fingerprint"] = current(d)["fingerprint"] }, "tombstones[0].fingerprint"},
		"unknown reason":         {func(d map[string]any) { tombstone(d)["reason"] = "Lost" }, "tombstones[0].reason"},
		"tombstone without time": {func(d map[string]any) { delete(tombstone(d), "time") }, "tombstones[0].time"},
		"wrong type":             {func(d map[string]any) { d["previous"] = "canary" }, "document"},
		"not base64":             {func(d map[string]any) { current(d)["secret"] = "canary!" }, "document"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			doc := valid()
			c.edit(doc)
			data, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			_, err = keyring.Parse(data)
			var invalid *keyring.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("error %v, want an InvalidError", err)
			}
			if invalid.Field != c.field {
				t.Errorf("field %s, want %s", invalid.Field, c.field)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error quotes the document: %v", err)
			}
		})
	}
}

func TestParseOfAnotherVersion(t *testing.T) {
	_, err := keyring.Parse([]byte(`{"version":2,"current":"of another shape"}`))
	var version *keyring.VersionError
	if !errors.As(err, &version) || version.Version != 2 {
		t.Errorf("error %v, want a VersionError for version 2", err)
	}
}

func TestParseIgnoresFieldsOfALaterRelease(t *testing.T) {
	data := strings.Replace(string(encode(t, full(t))), `{"version":1,`, `{"version":1,"later":{"x":1},`, 1)
	if _, err := keyring.Parse([]byte(data)); err != nil {
		t.Error(err)
	}
}

func TestParseRefusesTrailingData(t *testing.T) {
	data := append(encode(t, full(t)), " {}"...)
	if _, err := keyring.Parse(data); err == nil {
		t.Error("a second document was ignored")
	}
}

func TestEncodeRefusesADamagedKeyring(t *testing.T) {
	var invalid *keyring.InvalidError
	if _, err := (&keyring.Keyring{}).Encode(); !errors.As(err, &invalid) {
		t.Errorf("error %v, want an InvalidError", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(encode(f, full(f)))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := keyring.Parse(data)
		if err != nil {
			// Both say what is wrong in words of their own, and quote nothing.
			var version *keyring.VersionError
			var invalid *keyring.InvalidError
			if !errors.As(err, &version) && !errors.As(err, &invalid) {
				t.Fatalf("error %v is neither a VersionError nor an InvalidError", err)
			}
			return
		}
		first := encode(t, k)
		again, err := keyring.Parse(first)
		if err != nil {
			t.Fatalf("cannot parse what was encoded: %v", err)
		}
		if diff := cmp.Diff(string(first), string(encode(t, again))); diff != "" {
			t.Fatalf("encoding is not stable:\n%s", diff)
		}
		if len(k.Accepted(time.Unix(0, 0))) == 0 {
			t.Fatal("a keyring accepts nothing")
		}
	})
}
