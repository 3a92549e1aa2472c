// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
)

// AddressError says that a destination's name led to an address that destinations may not have. Nothing was sent.
type AddressError struct {
	// Address that was about to be dialed.
	Address netip.Addr
	// Kind of address it is, such as "loopback".
	Kind string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("address %s is not allowed for a destination: %s", e.Address, e.Kind)
}

// PrivateNetworks are those of RFC 1918 and RFC 4193, from which clusters take the addresses of their Services and pods.
func PrivateNetworks() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("fc00::/7"),
	}
}

type special struct {
	prefix netip.Prefix
	kind   string
}

func specials(kind string, prefixes ...string) []special {
	list := make([]special, len(prefixes))
	for i, prefix := range prefixes {
		list[i] = special{netip.MustParsePrefix(prefix), kind}
	}
	return list
}

// metadata are where clouds answer with the machine's credentials. No setting allows them: networks that are allowed for
// their Services may well contain them. AWS (also for its container credentials), Azure's WireServer, Google's IPv6,
// Oracle's former one and Alibaba.
var metadata = specials("a cloud's metadata",
	"169.254.169.254/32", "169.254.169.253/32", "169.254.170.2/32", "169.254.170.23/32", "fd00:ec2::254/128",
	"fd00:ec2::253/128", "fd00:ec2::23/128", "168.63.129.16/32", "fd20:ce::254/128", "192.0.0.192/32", "100.100.100.200/32")

// special4 are the networks of https://www.iana.org/assignments/iana-ipv4-special-registry and multicast. netip's own
// questions do not know the shared, the reserved, or the deprecated ones.
var special4 = concat(
	specials("this network", "0.0.0.0/8"),
	specials("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
	specials("shared between customers of a provider", "100.64.0.0/10"),
	specials("loopback", "127.0.0.0/8"),
	specials("link-local", "169.254.0.0/16"),
	specials("for protocols", "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24"),
	specials("for documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
	specials("a 6to4 relay", "192.88.99.0/24"),
	specials("for benchmarks", "198.18.0.0/15"),
	specials("multicast", "224.0.0.0/4"),
	specials("reserved", "240.0.0.0/4"),
)

// special6 are the networks of https://www.iana.org/assignments/iana-ipv6-special-registry that are in global6, and those
// outside of it that have a name of their own.
var special6 = concat(
	specials("loopback", "::1/128"),
	specials("link-local", "fe80::/10"),
	specials("private", "fc00::/7"),
	specials("multicast", "ff00::/8"),
	// Teredo is among these: an address that holds an IPv4 one.
	specials("for protocols", "2001::/23", "2620:4f:8000::/48"),
	specials("for documentation", "2001:db8::/32", "3fff::/20"),
	specials("6to4, which holds an IPv4 address", "2002::/16"),
)

var (
	// global6 is all that IANA has given out for the public internet.
	global6 = netip.MustParsePrefix("2000::/3")
	// nat64 is how hosts without IPv4 reach it (RFC 6052): the last four bytes are the IPv4 address.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

func concat(lists ...[]special) []special {
	var all []special
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// checkAddress returns an *AddressError unless the address is on the public internet or in one of the allowed networks.
func checkAddress(address netip.Addr, allowed []netip.Prefix) error {
	plain := address.Unmap()
	if nat64.Contains(plain) {
		bytes := plain.As16()
		plain = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	if kind := find(metadata, plain); kind != "" {
		return &AddressError{address, kind}
	}
	for _, network := range allowed {
		if network.Contains(plain) {
			return nil
		}
	}
	kind := find(special4, plain)
	if plain.Is6() {
		kind = find(special6, plain)
		if kind == "" && !global6.Contains(plain) {
			kind = "not on the public internet"
		}
	}
	if kind != "" {
		return &AddressError{address, kind}
	}
	return nil
}

func find(list []special, address netip.Addr) string {
	for _, s := range list {
		if s.prefix.Contains(address) {
			return s.kind
		}
	}
	return ""
}

// guard returns a net.Dialer's ControlContext that lets connections to allowed addresses only begin. It sees the address
// that is dialed, whatever the name's spelling was and whatever the name led to before.
func guard(allowed []netip.Prefix) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("dial on %s: %w", network, err)
		}
		// net writes the zone of an IPv6 address also where it has made an IPv4 one of it, which netip cannot read.
		host, _, _ = strings.Cut(host, "%")
		parsed, err := netip.ParseAddr(host)
		if err != nil {
			return fmt.Errorf("dial on %s: %w", network, err)
		}
		return checkAddress(parsed, allowed)
	}
}
