// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// witnessEvery is how often a witness sends.
	witnessEvery = 100 * time.Millisecond
	// grace is how much later than its end a secret may still be accepted: a minute.
	grace = minute
	// lastRounds is how often every receiver is asked after that.
	lastRounds = 3
)

// witness sends with a former secret alone, from before its rotation until after its end, to every receiver in turn. It
// knows nothing of keyrings: it is told afterwards what was due.
type witness struct {
	provider *provider
	secret   string
	number   int
	stop     context.CancelFunc
	done     chan struct{}
	answers  []testimony
}

type testimony struct {
	sent, answered time.Time
	receiver       int
	status         int
}

func (p *provider) witness(ctx context.Context, secret string, number int) *witness {
	ctx, stop := context.WithCancel(ctx)
	w := &witness{provider: p, secret: secret, number: number, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for pause(ctx, witnessEvery) {
			w.ask()
		}
	}()
	return w
}

func (w *witness) ask() {
	n := len(w.answers)
	receiver := n % replicas
	sent := time.Now()
	status, _ := w.provider.deliver(w.provider.shop.receivers[receiver], fmt.Sprintf("%s-witness-%d-%d", w.provider.shop.name, w.number, n), w.secret)
	w.answers = append(w.answers, testimony{sent, time.Now(), receiver, status})
}

// due is what the model says of a former secret: accepted while it is answered before mustBy, refused if it is sent after
// mayBy.
type due struct{ mustBy, mayBy time.Time }

// verdict counts what a witness saw.
type verdict struct{ inside, refusedInside, after, acceptedAfter int }

// judge ends the witness, asks every receiver once more, and compares with what was due.
func (w *witness) judge(d due) (v verdict, complaints []string) {
	w.stop()
	<-w.done
	for range lastRounds * replicas {
		w.ask()
	}
	for _, a := range w.answers {
		switch {
		case a.answered.Before(d.mustBy):
			v.inside++
			if a.status != http.StatusOK {
				v.refusedInside++
				complaints = append(complaints, fmt.Sprintf("receiver %d answered %d, %s before the end", a.receiver, a.status, d.mustBy.Sub(a.answered)))
			}
		case a.sent.After(d.mayBy):
			v.after++
			if a.status != http.StatusUnauthorized {
				v.acceptedAfter++
				complaints = append(complaints, fmt.Sprintf("receiver %d answered %d, %s after the end", a.receiver, a.status, a.sent.Sub(d.mayBy)))
			}
		}
	}
	return v, complaints
}
