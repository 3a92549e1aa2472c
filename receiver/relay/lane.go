// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"sync"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// lane is what waits for one destination, and the slots that attempt it. A destination that is slow or dead fills its own
// lane and holds its own slots, and no other destination's.
type lane struct {
	// poster and publisher carry deliveries, whichever the destination's settings ask for.
	poster, publisher carrier
	// maxRows and maxBytes bound what is kept in memory for the destination.
	maxRows, maxBytes int

	mu      sync.Mutex
	waiting []receiver.Delivery
	// bytes of the bodies that wait or are being posted.
	bytes int
	// running slots; a slot exists only while there is work for it.
	running int
	breaker breaker
	// behind says that the outbox may hold more that is due for this lane.
	behind bool
}

// carrier returns what takes deliveries to the destination.
func (l *lane) carrier(to Destination) carrier {
	if to.NATS != nil {
		return l.publisher
	}
	return l.poster
}

// close lets go of connections.
func (l *lane) close() {
	l.poster.close()
	l.publisher.close()
}

// offer takes the delivery if there is room for it, and says whether it did. An empty lane has room for any size.
func (l *lane) offer(d receiver.Delivery) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	empty := len(l.waiting) == 0 && l.running == 0
	if !empty && (len(l.waiting) >= l.maxRows || l.bytes+len(d.Body) > l.maxBytes) {
		l.behind = true
		return false
	}
	l.push(d)
	return true
}

// put takes a delivery that was leased for this lane because it asked for one.
func (l *lane) put(d receiver.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.push(d)
}

func (l *lane) push(d receiver.Delivery) {
	l.waiting = append(l.waiting, d)
	l.bytes += len(d.Body)
}

// reserve returns how many slots, of so many in all, to start for what waits; they are counted as running already.
func (l *lane) reserve(slots int, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.breaker.probes(now):
		slots = 1
	case !l.breaker.closed():
		slots = 0
	}
	n := max(0, min(len(l.waiting), slots-l.running))
	l.running += n
	return n
}

// next returns the delivery that has waited longest. If there is none, or none may be attempted now, the calling slot is
// over.
func (l *lane) next(now time.Time) (receiver.Delivery, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	may := l.breaker.closed() || l.breaker.probes(now) && l.running == 1
	if len(l.waiting) == 0 || !may {
		if len(l.waiting) == 0 {
			l.waiting = nil
		}
		l.running--
		return receiver.Delivery{}, false
	}
	d := l.waiting[0]
	l.waiting[0] = receiver.Delivery{}
	l.waiting = l.waiting[1:]
	return d, true
}

// learn tells the lane how an attempt ended. It says whether attempts are held back now that were not before, or the
// other way around.
func (l *lane) learn(now time.Time, works bool, asked time.Duration) (changed, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed = l.breaker.record(now, works, asked)
	return changed, !l.breaker.closed()
}

// done forgets a delivery that next returned. It says whether the lane has caught up with what it was given and the
// outbox may hold more.
func (l *lane) done(d receiver.Delivery, batch int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes -= len(d.Body)
	return l.behind && l.hungry(batch)
}

// ask says whether the lane has room for another batch from the outbox.
func (l *lane) ask(batch int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hungry(batch)
}

// asksProbe says whether the lane wants one delivery, to see whether its destination works again.
func (l *lane) asksProbe(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.breaker.probes(now) && len(l.waiting) == 0 && l.running == 0
}

func (l *lane) hungry(batch int) bool {
	return l.breaker.closed() && len(l.waiting) < batch && (l.bytes < l.maxBytes/2 || l.running == 0)
}

func (l *lane) setBehind(behind bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.behind = behind
}

// clear drops what waits; its leases run out, and whoever leases it next attempts it.
func (l *lane) clear() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped := len(l.waiting)
	for _, d := range l.waiting {
		l.bytes -= len(d.Body)
	}
	l.waiting = nil
	return dropped
}

func (l *lane) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) == 0 && l.running == 0
}
