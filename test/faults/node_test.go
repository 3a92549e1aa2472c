// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookonce/hookonce/test/faults/cutter"
	"github.com/hookonce/hookonce/test/faults/plan"
)

// receiverProcess is one `receiver serve`: one endpoint on one node.
type receiverProcess struct {
	args            []string
	log             string
	public, private string
	// front is the link by which senders reach it.
	front *link

	mu  sync.Mutex
	run *process
}

// node is a machine: a receiver of each endpoint, and one way to the database.
type node struct {
	number    int
	binary    string
	receivers [plan.Endpoints]*receiverProcess
	database  *link
	cuts      *cutter.Proxy
	// fault is held by whoever makes the node suffer, so that no two faults undo each other.
	fault sync.Mutex
}

// newNode lays the folder of the node's database URI: receivers go through the proxy that cuts, which goes through the
// link that suffers.
func newNode(t *testing.T, w *world, number int) *node {
	t.Helper()
	n := &node{number: number, binary: w.binary}
	n.database = w.toxics.link(t, fmt.Sprintf("database-%d", number), address(w.pgOptions.Port))
	var err error
	n.cuts, err = cutter.Listen(address(freePort(t)), n.database.Listen, w.cuts)
	must(t, err)
	t.Cleanup(n.cuts.Close)
	folder := filepath.Join(w.dir, fmt.Sprintf("database-%d", number))
	must(t, os.Mkdir(folder, 0o755))
	must(t, os.WriteFile(filepath.Join(folder, "uri"), []byte(w.databaseURL(n.cuts.Address())), 0o600))
	for i, e := range w.endpoints {
		r := &receiverProcess{
			log:    filepath.Join(w.dir, fmt.Sprintf("receiver-%s-%d.log", e.short, number)),
			public: address(freePort(t)), private: address(freePort(t)),
		}
		r.front = w.toxics.link(t, fmt.Sprintf("front-%s-%d", e.short, number), r.public)
		r.args = []string{
			"serve", "--config-dir", e.configDir, "--keyring-dir", e.keyringDir, "--database-dir", folder,
			"--public-address", r.public, "--private-address", r.private, "--drain-delay", "100ms",
			"--counter-flush-interval", "500ms", "--log-level", "WARN", "--destination-networks", "127.0.0.0/8",
		}
		n.receivers[i] = r
	}
	return n
}

func (n *node) start() error {
	var errs []error
	for _, r := range n.receivers {
		errs = append(errs, r.start(n.binary))
	}
	return errors.Join(errs...)
}

func (r *receiverProcess) start(binary string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := spawn(binary, r.log, r.args...)
	if err != nil {
		return err
	}
	r.run = p
	return nil
}

func (r *receiverProcess) current() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.run
}

// kill ends the node's receivers as a power cut would.
func (n *node) kill() {
	for _, r := range n.receivers {
		if p := r.current(); p != nil {
			p.kill()
		}
	}
}

func (n *node) signal(s syscall.Signal) {
	for _, r := range n.receivers {
		if p := r.current(); p != nil {
			p.signal(s)
		}
	}
}

// stop ends the receivers in order, all at once.
func (n *node) stop() error {
	errs := make([]error, len(n.receivers))
	var wait sync.WaitGroup
	for i, r := range n.receivers {
		wait.Go(func() {
			if err := r.current().stop(time.Minute); err != nil {
				errs[i] = fmt.Errorf("receiver %s: %w", r.log, err)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// ready says whether all receivers of the node are.
func (n *node) ready(client *http.Client) bool {
	for _, r := range n.receivers {
		answer, err := client.Get("http://" + r.private + "/readyz")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}
