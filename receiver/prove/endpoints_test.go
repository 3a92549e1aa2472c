// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package prove_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// books are what an endpoint recorded: its orders, so to speak.
type books struct {
	mu     sync.Mutex
	orders map[string]int
	// known are the answers of events that were seen.
	known map[string]string
	// late are commits under way.
	late sync.WaitGroup
}

func newBooks() *books { return &books{orders: map[string]int{}, known: map[string]string{}} }

func (b *books) book(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.orders[id]++
	return fmt.Sprintf(`{"order":%q}`, id)
}

func (b *books) seen(id string) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answer, found := b.known[id]
	return answer, found
}

func (b *books) keep(id, answer string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[id] = answer
}

func (b *books) forget(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.known)
	return nil
}

// pause is how long the work of an endpoint takes: long enough for copies to meet in it.
func pause() { <-time.After(20 * time.Millisecond) }

// endpoint answers the delivery of an event.
type endpoint func(b *books, w http.ResponseWriter, id string)

func (e endpoint) handler(b *books) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "cut off", http.StatusBadRequest)
			return
		}
		e(b, w, string(id))
	})
}

// right claims by a key that is unique, in the transaction of the effect, and replays the answer.
func right(b *books, w http.ResponseWriter, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answer, found := b.known[id]
	if !found {
		pause()
		b.orders[id]++
		answer = fmt.Sprintf(`{"order":%q,"at":%q}`, id, time.Now())
		b.known[id] = answer
	}
	_, _ = io.WriteString(w, answer)
}

// busy is right, and asks copies to come again while the first is under way.
func busy() endpoint {
	var mu sync.Mutex
	working := map[string]bool{}
	return func(b *books, w http.ResponseWriter, id string) {
		mu.Lock()
		if working[id] {
			mu.Unlock()
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		working[id] = true
		mu.Unlock()
		right(b, w, id)
		mu.Lock()
		delete(working, id)
		mu.Unlock()
	}
}

// trusting never looks.
func trusting(b *books, w http.ResponseWriter, id string) {
	_, _ = io.WriteString(w, b.book(id))
}

// checkThenAct looks, and acts on what it saw.
func checkThenAct(b *books, w http.ResponseWriter, id string) {
	answer, found := b.seen(id)
	if !found {
		pause()
		answer = b.book(id)
		b.keep(id, answer)
	}
	_, _ = io.WriteString(w, answer)
}

// locking lets copies in one after the other, and books each.
func locking() endpoint {
	var mu sync.Mutex
	return func(b *books, w http.ResponseWriter, id string) {
		mu.Lock()
		defer mu.Unlock()
		pause()
		_, _ = io.WriteString(w, b.book(id))
	}
}

// shrugging knows duplicates, in memory, and says something else to them.
func shrugging(b *books, w http.ResponseWriter, id string) {
	b.mu.Lock()
	_, found := b.known[id]
	b.known[id] = ""
	b.mu.Unlock()
	if found {
		_, _ = io.WriteString(w, `{"status":"duplicate"}`)
		return
	}
	_, _ = io.WriteString(w, b.book(id))
}

// complaining knows duplicates and calls them errors.
func complaining(b *books, w http.ResponseWriter, id string) {
	b.mu.Lock()
	_, found := b.known[id]
	b.known[id] = ""
	b.mu.Unlock()
	if found {
		w.WriteHeader(http.StatusConflict)
		return
	}
	_, _ = io.WriteString(w, b.book(id))
}

// hasty answers, and commits afterwards.
func hasty(b *books, w http.ResponseWriter, id string) {
	b.mu.Lock()
	_, found := b.known[id]
	b.known[id] = ""
	b.mu.Unlock()
	if !found {
		b.late.Go(func() {
			pause()
			b.book(id)
		})
	}
	w.WriteHeader(http.StatusAccepted)
}

// losing answers, and forgets every second event.
func losing() endpoint {
	var mu sync.Mutex
	n := 0
	return func(b *books, w http.ResponseWriter, id string) {
		mu.Lock()
		defer mu.Unlock()
		if _, found := b.seen(id); !found {
			b.keep(id, "")
			if n++; n%2 == 1 {
				b.book(id)
			}
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

// closed refuses everybody.
func closed(_ *books, w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusUnauthorized) }
