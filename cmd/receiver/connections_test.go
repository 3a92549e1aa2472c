// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSlowConnectionsAreBounded: senders that never finish hold so many connections, for as long as a header may take, and
// then others are served.
func TestSlowConnectionsAreBounded(t *testing.T) {
	s := newShop(t, "")
	const limit, senders = 40, 70
	r, process := s.fork("--max-connections", fmt.Sprint(limit))
	r.ready(t)
	idle := sockets(t, process)
	for range senders {
		conn, err := net.Dial("tcp", r.public)
		must(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-Slow: ", s.config.Path)
		must(t, err)
	}
	eventually(t, "the receiver has as many connections as it may", func() bool { return sockets(t, process) >= limit })
	// Beside them there may be some to the database, and one or two to the private port.
	if n := sockets(t, process); n > idle+limit+10 {
		t.Errorf("%d sockets, of them %d before; want at most %d more", n, idle, limit)
	}
	if answer := s.send(r, "--event-id", "evt_1")[0]; answer.Status != http.StatusOK {
		t.Errorf("a good request got %+v", answer)
	}
	if code := r.get("/livez"); code != http.StatusOK {
		t.Errorf("livez %d", code)
	}
}

func sockets(t *testing.T, process *exec.Cmd) int {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", process.Process.Pid)
	entries, err := os.ReadDir(dir)
	must(t, err)
	n := 0
	for _, entry := range entries {
		// One that was closed meanwhile is none.
		if to, err := os.Readlink(filepath.Join(dir, entry.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
