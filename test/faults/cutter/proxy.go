// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package cutter

import (
	"fmt"
	"net"
	"sync"
)

// Proxy forwards connections to a server and cuts some of them.
type Proxy struct {
	target   string
	cuts     *Cuts
	listener net.Listener

	mu     sync.Mutex
	open   map[*link]struct{}
	closed bool
	links  sync.WaitGroup
}

// Listen opens the proxy on an address, for connections to the target. Close it when done.
func Listen(address, target string, cuts *Cuts) (*Proxy, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for connections to cut: %w", err)
	}
	p := &Proxy{target: target, cuts: cuts, listener: listener, open: map[*link]struct{}{}}
	p.links.Go(p.accept)
	return p, nil
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends all connections and waits until they have.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for l := range p.open {
		l.end()
	}
	p.mu.Unlock()
	p.links.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.links.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	l := newLink(client, server, p.cuts)
	if !p.enter(l) {
		return
	}
	defer p.leave(l)
	l.run()
}

func (p *Proxy) enter(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		l.end()
		return false
	}
	p.open[l] = struct{}{}
	return true
}

func (p *Proxy) leave(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, l)
}
