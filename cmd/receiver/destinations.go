// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/hookonce/hookonce/receiver/relay"
	"github.com/hookonce/hookonce/receiver/snapshot"
)

// reachable are the destinations of one snapshot.
type reachable struct {
	from         *snapshot.Snapshot
	destinations []relay.Destination
}

// destinations are those of the snapshot in force, made once for it: each delivery asks for them.
func (p *process) destinations() []relay.Destination {
	current := p.mounts.Current()
	made := p.reachable.Load()
	if made == nil || made.from != current {
		made = &reachable{from: current, destinations: destinationsOf(current)}
		p.reachable.Store(made)
	}
	return made.destinations
}

// destinationsOf returns a snapshot's destinations, without those that need a secret which is not there: their deliveries
// wait.
func destinationsOf(s *snapshot.Snapshot) []relay.Destination {
	if s.Config == nil {
		return nil
	}
	destinations := make([]relay.Destination, 0, len(s.Config.Destinations))
	for _, d := range s.Config.Destinations {
		secrets, usable := s.Outgoing[d.Name]
		if !usable {
			continue
		}
		delays := make([]time.Duration, 0, len(d.Delays))
		for _, delay := range d.Delays {
			delays = append(delays, time.Duration(delay))
		}
		to := relay.Destination{
			Name: d.Name, URL: d.URL, Timeout: time.Duration(d.Timeout), Delays: delays,
			ClientErrorsEnd: d.FailClientErrors, Concurrency: d.Concurrency, SigningKeys: secrets.SigningKeys,
		}
		if d.Subject != "" {
			to.NATS = &relay.NATS{Subject: d.Subject, Credentials: secrets.Credentials}
		}
		destinations = append(destinations, to)
	}
	return destinations
}
