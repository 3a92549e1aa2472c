// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package address

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestPool(t *testing.T) {
	pool, err := NewPool("127.77.0.0/29")
	if err != nil {
		t.Fatal(err)
	}
	take := func(want string) {
		t.Helper()
		got, err := pool.Take()
		if err != nil || got != want {
			t.Fatalf("Take is %q (%v), want %q", got, err, want)
		}
	}
	for _, want := range []string{"127.77.0.1", "127.77.0.2", "127.77.0.3"} {
		take(want)
	}
	pool.Release("127.77.0.2")
	// The freed address comes last.
	for _, want := range []string{"127.77.0.4", "127.77.0.5", "127.77.0.6", "127.77.0.2"} {
		take(want)
	}
	if address, err := pool.Take(); err == nil {
		t.Errorf("an eighth address %s came out of six", address)
	}
	pool.Release("127.77.0.6")
	take("127.77.0.6")
}

func TestPoolAddressMissing(t *testing.T) {
	pool, err := NewPool("127.77.0.0/29")
	if err != nil {
		t.Fatal(err)
	}
	pool.probe = func(netip.Addr) error { return errors.New("can't assign requested address") }
	if _, err := pool.Take(); err == nil || !strings.Contains(err.Error(), "ifconfig lo0 alias 127.77.0.1") {
		t.Errorf("error is %v, want the remedy in it", err)
	}
	pool.probe = func(netip.Addr) error { return nil }
	if address, err := pool.Take(); err != nil || address != "127.77.0.1" {
		t.Errorf("after the remedy Take is %q (%v), want the same address", address, err)
	}
}

func TestNewPoolRefuses(t *testing.T) {
	for _, cidr := range []string{"", "127.77.0.0", "127.77.0.0/31", "::1/64"} {
		if _, err := NewPool(cidr); err == nil {
			t.Errorf("the range %q was accepted", cidr)
		}
	}
}
