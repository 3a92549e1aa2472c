// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// clusterState is written when the cluster is up, and says what is up.
type clusterState struct {
	Node nodeKind `json:"node"`
	// Components maps the name of each component to its folder in the cache.
	Components map[string]string `json:"components"`
	// Processes are the daemons that must be running.
	Processes []string  `json:"processes"`
	Started   time.Time `json:"started"`
}

func (s settings) readState() (clusterState, error) {
	var state clusterState
	content, err := os.ReadFile(s.path("state.json"))
	if err != nil {
		return state, fmt.Errorf("no cluster is up (start it with `make cluster`): %w", err)
	}
	if err := json.Unmarshal(content, &state); err != nil {
		return state, fmt.Errorf("parse the state of the cluster: %w", err)
	}
	return state, nil
}

func (s settings) writeState(state clusterState) error {
	content, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the state of the cluster: %w", err)
	}
	return writeFile(s.path("state.json"), content)
}

// leftovers says whether the state folder holds more than logs: a cluster, or remains of one.
func (s settings) leftovers() bool {
	entries, err := os.ReadDir(s.state)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if !keptByDown[entry.Name()] {
			return true
		}
	}
	return false
}

// keptByDown are the entries of the state folder which outlive the cluster.
var keptByDown = map[string]bool{"logs": true, "lock": true}
