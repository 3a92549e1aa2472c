// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package address hands out the addresses of pods.
package address

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// Pool gives each pod an address of its own from a range. An address comes back into use as late
// as possible, so that a late caller of a pod that is gone does not reach another one.
type Pool struct {
	prefix netip.Prefix
	probe  func(netip.Addr) error

	mu   sync.Mutex
	last netip.Addr
	used map[netip.Addr]bool
}

// NewPool makes a pool of the range's addresses, without its first and last one.
func NewPool(cidr string) (*Pool, error) {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return nil, fmt.Errorf("parse the pods' address range: %w", err)
	}
	prefix = prefix.Masked()
	if !prefix.Addr().Is4() || prefix.Bits() > 30 {
		return nil, fmt.Errorf("the pods' address range %s must be IPv4 and at least a /30", prefix)
	}
	return &Pool{prefix: prefix, probe: listen, last: prefix.Addr(), used: make(map[netip.Addr]bool)}, nil
}

// Take returns an address that no pod has. The error says what to do when the machine does not
// own the address (Linux owns all of 127.0.0.0/8, macOS only 127.0.0.1).
func (p *Pool) Take() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	candidate := p.last
	for {
		candidate = p.next(candidate)
		if !p.used[candidate] {
			break
		}
		if candidate == p.last {
			return "", fmt.Errorf("all addresses of %s are in use", p.prefix)
		}
	}
	if err := p.probe(candidate); err != nil {
		return "", fmt.Errorf("this machine has no address %s (on macOS: sudo ifconfig lo0 alias %s): %w", candidate, candidate, err)
	}
	p.last = candidate
	p.used[candidate] = true
	return candidate.String(), nil
}

// Release gives an address back.
func (p *Pool) Release(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if parsed, err := netip.ParseAddr(address); err == nil {
		delete(p.used, parsed)
	}
}

// next is the address after the given one; after the last but one it begins again.
func (p *Pool) next(address netip.Addr) netip.Addr {
	address = address.Next()
	if !p.prefix.Contains(address) || !p.prefix.Contains(address.Next()) {
		return p.prefix.Addr().Next()
	}
	return address
}

func listen(address netip.Addr) error {
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
	if err != nil {
		return err
	}
	return listener.Close()
}
