// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package hostile

import (
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
)

// counted is a way to Postgres that counts what is sent to it.
type counted struct {
	url  string
	sent atomic.Int64
}

func countBytes(t *testing.T, database string) *counted {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	u, err := url.Parse(database)
	must(t, err)
	server := u.Host
	u.Host = listener.Addr().String()
	c := &counted{url: u.String()}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go c.join(near, server)
		}
	}()
	return c
}

func (c *counted) join(near net.Conn, server string) {
	far, err := net.Dial("tcp", server)
	if err != nil {
		_ = near.Close()
		return
	}
	go func() {
		_, _ = io.Copy(near, far)
		_, _ = near.Close(), far.Close()
	}()
	_, _ = io.Copy(far, io.TeeReader(near, c))
	_, _ = near.Close(), far.Close()
}

// Write counts.
func (c *counted) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	return len(p), nil
}
