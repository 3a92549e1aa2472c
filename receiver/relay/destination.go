// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import "time"

// Destination is a system that gets deliveries.
type Destination struct {
	// Name is unique in the endpoint; deliveries belong to a destination by it.
	Name string
	// URL is absolute: http or https, where a user and password in it become basic authentication; nats or tls with NATS.
	URL string
	// NATS lets deliveries be published to a stream of NATS JetStream; nil means that they are posted.
	NATS *NATS
	// Timeout of one attempt, from dialing to the end of the answer; 0 means DefaultTimeout.
	Timeout time.Duration
	// Delays before the second and each further attempt: a delivery has one attempt more than there are delays.
	Delays []time.Duration
	// ClientErrorsEnd lets an answer that blames the request end the delivery, as Classify says.
	ClientErrorsEnd bool
	// Concurrency is how many attempts are made at once; 0 means DefaultConcurrency.
	Concurrency int
	// SigningKeys sign each attempt, once each; none, and nothing is signed.
	SigningKeys [][]byte
}

// How many attempts are made at once to one destination.
const (
	DefaultConcurrency = 8
	MaxConcurrency     = 64
)

// DefaultTimeout of one attempt.
const DefaultTimeout = 10 * time.Second

// MinLease is the shortest lease that LeaseFor returns.
const MinLease = 30 * time.Second

func (d Destination) timeout() time.Duration {
	if d.Timeout <= 0 {
		return DefaultTimeout
	}
	return d.Timeout
}

func (d Destination) concurrency() int {
	if d.Concurrency <= 0 {
		return DefaultConcurrency
	}
	return min(d.Concurrency, MaxConcurrency)
}

// LeaseFor returns how long deliveries to these destinations must be leased: three times the longest timeout, at least
// MinLease. An attempt then takes less than half of the lease, and there is time to wait for a slot before it.
func LeaseFor(destinations []Destination) time.Duration {
	lease := MinLease
	for _, d := range destinations {
		lease = max(lease, 3*d.timeout())
	}
	return lease
}
