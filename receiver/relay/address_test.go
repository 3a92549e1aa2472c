// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/hookonce/hookonce/receiver"
)

// forbidden4 are the ends and something inside of each network that destinations may not have.
var forbidden4 = strings.Fields(`
	0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.96.0.1 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255
	127.0.0.0 127.0.0.1 127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255
	172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0
	192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.255 224.0.0.1 239.255.255.255
	240.0.0.0 255.255.255.255`)

var forbidden6 = strings.Fields(`
	:: ::1 ::2 ::ffff:0:1 ::7f00:1 100::1 2001::1 2001:0:7f00:1:: 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1 2002:7f00:1::
	2002:a9fe:a9fe:: 2620:4f:8000::1 3fff::1 3fff:fff:ffff::1 4000::1 5f00::1 64:ff9b:1::7f00:1 fc00::1 fd00:ec2::254
	fd00:ec2::23 fd20:ce::254 fdff::1 fe80::1 fe80::1%25lo febf::1 fec0::1 feff::1 ff02::1 ff05::2 1fff::1`)

// spellings of an IPv4 address as the host of a URL: those that are addresses to some program, and IPv6 addresses that
// lead to it.
func spellings(address string) []string {
	a := netip.MustParseAddr(address).As4()
	number := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	hex := fmt.Sprintf("%02x%02x:%02x%02x", a[0], a[1], a[2], a[3])
	return []string{
		address, address + ".", fmt.Sprint(number), fmt.Sprintf("0x%08x", number), fmt.Sprintf("0%o", number),
		fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", a[0], a[1], a[2], a[3]), fmt.Sprintf("0%o.0%o.0%o.0%o", a[0], a[1], a[2], a[3]),
		fmt.Sprintf("%d.%d.%d", a[0], a[1], number&0xffff), fmt.Sprintf("%d.%d", a[0], number&0xffffff),
		fmt.Sprintf("%03d.%03d.%03d.%03d", a[0], a[1], a[2], a[3]), strings.ReplaceAll(address, ".", "%2e"),
		strings.ReplaceAll(address, ".", "。"), strings.NewReplacer("0", "０", "1", "①", "2", "２").Replace(address),
		"[::ffff:" + address + "]", "[::ffff:" + hex + "]", "[0:0:0:0:0:ffff:" + hex + "]", "[::" + address + "]", "[::" + hex + "]",
		"[::ffff:0:" + address + "]", "[64:ff9b::" + address + "]", "[64:ff9b:1::" + address + "]", "[2002:" + hex + "::1]",
		"[2001:0:" + hex + "::1]", "[::ffff:" + address + "%25lo]", strings.ReplaceAll(address, ".", "-") + ".a.test",
	}
}

func TestNoSpellingOfAForbiddenAddressIsDialed(t *testing.T) {
	names := newNameServer(t, func(name string) netip.Addr {
		address, _ := netip.ParseAddr(strings.ReplaceAll(strings.TrimSuffix(name, ".a.test."), "-", "."))
		return address
	})
	var hosts []string
	for _, address := range forbidden4 {
		hosts = append(hosts, spellings(address)...)
	}
	for _, address := range forbidden6 {
		hosts = append(hosts, "["+address+"]")
	}
	tried := 0
	for _, host := range hosts {
		for _, scheme := range []string{"http", "HTTPS"} {
			tried++
			_, err := names.post(t, scheme+"://"+host+":1/", nil)
			if !neverDialed(err) {
				t.Errorf("%s://%s: %v", scheme, host, err)
			}
		}
	}
	if tried < 500 {
		t.Errorf("%d spellings were tried, want at least 500", tried)
	}
}

// neverDialed says that an attempt ended before a connection was tried: the address was refused, or there was none.
func neverDialed(err error) bool {
	var (
		address *AddressError
		dns     *net.DNSError
		parse   *url.Error
	)
	switch {
	case errors.As(err, &address), errors.As(err, &dns), errors.Is(err, errBadRequest):
		return true
	default:
		return errors.As(err, &parse) && parse.Op == "parse"
	}
}

func TestRefusedAddressHasAReason(t *testing.T) {
	_, err := newNameServer(t, nil).post(t, "http://169.254.169.254/latest/meta-data/", PrivateNetworks())
	want := "address 169.254.169.254 is not allowed for a destination: a cloud's metadata"
	if got := Classify(Destination{}, 1, Answer{}, err, 0).Reason; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}

func TestAllowedAddresses(t *testing.T) {
	tests := []struct {
		address string
		allowed []netip.Prefix
		want    bool
	}{
		{"8.8.8.8", nil, true},
		{"2606:4700::1", nil, true},
		{"::ffff:8.8.8.8", nil, true},
		{"64:ff9b::8.8.8.8", nil, true},
		{"64:ff9b::10.0.0.1", nil, false},
		{"64:ff9b::10.0.0.1", PrivateNetworks(), true},
		{"10.96.0.1", PrivateNetworks(), true},
		{"::ffff:10.96.0.1", PrivateNetworks(), true},
		{"172.32.0.1", nil, true},
		{"100.64.0.1", PrivateNetworks(), false},
		{"100.64.0.1", []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10")}, true},
		{"100.100.100.200", []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10")}, false},
		{"fd12::1", PrivateNetworks(), true},
		{"fd00:ec2::254", PrivateNetworks(), false},
		{"fd20:ce::254", PrivateNetworks(), false},
		{"169.254.169.254", []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}, false},
		{"168.63.129.16", []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}, false},
		{"127.0.0.1", PrivateNetworks(), false},
		{"127.0.0.1", loopback(), true},
	}
	for _, tt := range tests {
		if err := checkAddress(netip.MustParseAddr(tt.address), tt.allowed); (err == nil) != tt.want {
			t.Errorf("%s in %v: %v, want allowed: %t", tt.address, tt.allowed, err, tt.want)
		}
	}
}

// A name that leads to an allowed address when it is looked up first, and to a forbidden one next, is refused the second
// time: what counts is what is dialed.
func TestNameThatIsBoundAnewIsRefused(t *testing.T) {
	s := newSink(t, func(http.ResponseWriter, *http.Request) {})
	port := s.Listener.Addr().(*net.TCPAddr).Port
	var forbidden atomic.Bool
	names := newNameServer(t, func(string) netip.Addr {
		if forbidden.Load() {
			return netip.MustParseAddr("127.0.0.2")
		}
		return netip.MustParseAddr("127.0.0.1")
	})
	target := fmt.Sprintf("http://sink.test:%d/", port)
	only := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	if answer, err := names.post(t, target, only); err != nil || answer.Status != 200 {
		t.Fatalf("first post: %d, %v", answer.Status, err)
	}
	forbidden.Store(true)
	for range 10 {
		_, err := names.post(t, target, only)
		var refused *AddressError
		if !errors.As(err, &refused) || refused.Address.String() != "127.0.0.2" {
			t.Fatalf("post after the name was bound anew: %v", err)
		}
	}
	if requests, _ := s.seen(); len(requests) != 1 {
		t.Errorf("%d requests, want the first only", len(requests))
	}
}

// nameServer answers DNS questions on loopback.
type nameServer struct{ resolver *net.Resolver }

// newNameServer answers with the address that the function returns for a name; an invalid one is a name that does not exist.
func newNameServer(t *testing.T, lookup func(name string) netip.Addr) nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply := answerDNS(buffer[:n], lookup); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	dialer := &net.Dialer{}
	return nameServer{&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}}
}

func answerDNS(question []byte, lookup func(string) netip.Addr) []byte {
	var message dnsmessage.Message
	if message.Unpack(question) != nil || len(message.Questions) != 1 {
		return nil
	}
	q := message.Questions[0]
	message.Header.Response, message.Header.Authoritative, message.Additionals = true, true, nil
	var address netip.Addr
	if lookup != nil {
		address = lookup(q.Name.String())
	}
	if !address.IsValid() {
		message.Header.RCode = dnsmessage.RCodeNameError
	} else if q.Type == dnsmessage.TypeA {
		message.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
			Body:   &dnsmessage.AResource{A: address.As4()},
		}}
	}
	reply, err := message.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// post makes an attempt with a client of its own, whose names are this server's.
func (s nameServer) post(t *testing.T, target string, allowed []netip.Prefix) (Answer, error) {
	t.Helper()
	dialer := newDialer(allowed)
	dialer.Resolver = s.resolver
	transport := newTransport(dialer)
	defer transport.CloseIdleConnections()
	p := &poster{client: newClient(transport), now: time.Now}
	return p.carry(t.Context(), Destination{Name: "sink", URL: target}, receiver.Delivery{Attempt: 1})
}
