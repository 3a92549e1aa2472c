// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// full has a value in every field.
func full() Scheme {
	sources := func() []Source {
		return []Source{
			{Header: "X-A"},
			{Path: []string{"a", "b"}},
			{Compose: []Source{{Header: "X-B"}, {Path: []string{"c"}}}},
			{BodyDigest: true},
			{PerRequest: true},
		}
	}
	return Scheme{
		Name:           HMAC,
		Signature:      Signature{Header: "X-S", Path: []string{"s"}, Separator: ",", Prefix: "v1=", Encoding: Hex, Algorithm: SHA256},
		HeaderAliases:  map[string]string{"X-S": "Y-S"},
		StringToSign:   "{body}",
		Key:            Key{Encoding: Raw, Prefix: "k", MinBytes: 1, MaxBytes: 2},
		Timestamp:      &Timestamp{Header: "X-T", Prefix: "t=", Unit: Seconds},
		EventID:        sources(),
		EventType:      sources(),
		ResourceID:     sources(),
		EventIDSigned:  true,
		BodyReuse:      true,
		FormField:      "payload",
		FormObject:     true,
		Batch:          &Batch{Path: []string{"items"}, Member: "item"},
		Handshakes:     []Handshake{{Kind: HubChallenge, VerifyToken: "t", Origins: []string{"o"}}},
		Acknowledgment: "ok",
		Behavior:       Behavior{RetryHorizon: time.Hour, BodyChanges: true, Rotation: RotationBoth},
	}
}

// TestEqualSeesEveryField changes each field of a scheme, however deep, one at a time: a field that is added and that Equal
// or Clone forgets makes it fail.
func TestEqualSeesEveryField(t *testing.T) {
	count := len(leavesOf(reflect.ValueOf(new(full())).Elem(), "Scheme"))
	if count < 60 {
		t.Fatalf("only %d fields are tried", count)
	}
	for i := range count {
		original, changed := full(), full()
		if !original.Equal(&changed) {
			t.Fatal("a scheme is not equal to itself")
		}
		at := leavesOf(reflect.ValueOf(&changed).Elem(), "Scheme")[i]
		change(t, at.value)
		if original.Equal(&changed) || changed.Equal(&original) {
			t.Errorf("%s: a change is not seen", at.name)
		}
		clone := original.Clone()
		target := leavesOf(reflect.ValueOf(&clone).Elem(), "Scheme")[i]
		change(t, target.value)
		if diff := cmp.Diff(full(), original); diff != "" {
			t.Errorf("%s is shared with the clone:\n%s", target.name, diff)
		}
	}
	for _, preset := range presets {
		if clone := preset.Clone(); !preset.Equal(&clone) || !cmp.Equal(preset, clone) {
			t.Errorf("%s is not its clone", preset.Name)
		}
	}
}

type leaf struct {
	name  string
	value reflect.Value
}

func leavesOf(v reflect.Value, name string) []leaf {
	switch v.Kind() {
	case reflect.Struct:
		var out []leaf
		for i := range v.NumField() {
			out = append(out, leavesOf(v.Field(i), name+"."+v.Type().Field(i).Name)...)
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return append(leavesOf(v.Elem(), name), leaf{name, v})
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		out := []leaf{{name, v}}
		for i := range v.Len() {
			out = append(out, leavesOf(v.Index(i), name+"[]")...)
		}
		return out
	default:
		return []leaf{{name, v}}
	}
}

func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Pointer:
		v.SetZero()
	case reflect.Slice:
		v.Set(v.Slice(0, v.Len()-1))
	case reflect.Map:
		v.SetMapIndex(reflect.ValueOf("X-S"), reflect.ValueOf("other"))
	default:
		t.Fatalf("a field of the kind %s", v.Kind())
	}
}
