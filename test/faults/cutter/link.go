// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package cutter

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"syscall"
)

const bufferBytes = 32 << 10

// errCut says that a pump has cut its connection.
var errCut = errors.New("cut")

// link is one connection of a client and the one to the server that belongs to it.
type link struct {
	client, server net.Conn
	fromClient     *bufio.Reader
	cuts           *Cuts
	tracker        *tracker

	mu sync.Mutex
	// armed is the cut that waits for the server's answer to the commit in the segment.
	armed   Point
	segment int
	// over says that nothing more is forwarded from the client.
	over bool
	// abrupt says that the cut resets the connection instead of closing it.
	abrupt bool
}

func newLink(client, server net.Conn, cuts *Cuts) *link {
	return &link{
		client: client, server: server, fromClient: bufio.NewReaderSize(client, bufferBytes), cuts: cuts,
		tracker: newTracker(), armed: none,
	}
}

// run forwards until one side ends or the connection is cut; then both are closed.
func (l *link) run() {
	defer l.end()
	if err := l.startup(); err != nil {
		return
	}
	var pumps sync.WaitGroup
	pumps.Go(func() { l.endAfter(l.pumpClient()) })
	pumps.Go(func() { l.endAfter(l.pumpServer()) })
	pumps.Wait()
	if p := l.disarm(); p != none {
		l.cuts.undone(p)
	}
}

func (l *link) end() {
	_, _ = l.client.Close(), l.server.Close()
}

// endAfter closes both sides. A connection that the server's side has reset is reset for the client too, and so is every
// other one that is cut: clients see the two in different ways.
func (l *link) endAfter(err error) {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, errCut) && l.abrupt {
		if conn, ok := l.client.(*net.TCPConn); ok {
			_ = conn.SetLinger(0)
		}
	}
	l.end()
}

// startup forwards the first message. Encryption is refused: the proxy has to read what passes.
func (l *link) startup() error {
	for {
		message, code, err := readStartup(l.fromClient)
		if err != nil {
			return err
		}
		if code == codeSSL || code == codeGSS {
			if _, err := l.client.Write([]byte{'N'}); err != nil {
				return err
			}
			continue
		}
		_, err = l.server.Write(message)
		// A request to cancel has no answer: the server closes the connection, and the pumps end.
		return err
	}
}

// pumpClient forwards what the client says, and makes the cuts that come before an answer.
func (l *link) pumpClient() error {
	to := bufio.NewWriterSize(l.server, bufferBytes)
	var buffer frame
	// cut is the one that was decided in the segment.
	cut := none
	for {
		f, err := readFrame(l.fromClient, buffer)
		if err != nil {
			return err
		}
		buffer = f
		if l.ended() {
			return nil
		}
		commit, err := l.tracker.see(f)
		if err == nil && commit && cut == none {
			cut, err = l.decide(to)
		}
		if err != nil {
			return err
		}
		if err := forward(to, f, ends(f) || l.fromClient.Buffered() == 0); err != nil {
			return err
		}
		if !ends(f) {
			continue
		}
		l.tracker.segment++
		if cut == AfterForward {
			// Nothing of the answer may pass between the end of the cut's wait and the cut.
			l.endAfter(errCut)
			l.disarm()
			l.cuts.done(AfterForward)
			return errCut
		}
		cut = none
	}
}

func forward(to *bufio.Writer, f frame, flush bool) error {
	if _, err := to.Write(f); err != nil {
		return err
	}
	if flush {
		return to.Flush()
	}
	return nil
}

// decide asks whether the commit that is on its way is cut. What comes before it has been written to the server's side.
func (l *link) decide(to *bufio.Writer) (Point, error) {
	p, abrupt := l.cuts.next()
	// A reset may overtake what was delivered, so what must arrive is followed by an ordinary end.
	l.abrupt = abrupt && p != MidAnswer && p != AfterAnswer
	switch p {
	case none:
	case BeforeCommit:
		if err := to.Flush(); err != nil {
			l.cuts.undone(p)
			return none, err
		}
		l.cuts.done(p)
		return none, errCut
	default:
		l.arm(p)
	}
	return p, nil
}

func (l *link) arm(p Point) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segment = l.tracker.segment + 1
	// The answer to a commit that is cut off right after it was forwarded is withheld all the same, if it is quick.
	l.armed = p
}

func (l *link) disarm() Point {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.armed
	l.armed = none
	return p
}

// waiting says which cut waits for an answer in the segment.
func (l *link) waiting(segment int) Point {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.armed == none || l.segment != segment {
		return none
	}
	return l.armed
}

// pumpServer forwards answers, and makes the cuts that depend on them.
func (l *link) pumpServer() error { //nolint:gocognit // It is one loop over messages, in the order of the cuts.
	from, to := bufio.NewReaderSize(l.server, bufferBytes), bufio.NewWriterSize(l.client, bufferBytes)
	var buffer frame
	segment, committed := 0, false
	for {
		f, err := readFrame(from, buffer)
		if err != nil {
			return err
		}
		buffer = f
		cut := l.waiting(segment)
		if cut == AfterForward {
			// The other pump is about to cut.
			continue
		}
		committed = committed || cut != none && isCommitted(f)
		if committed && (cut == BeforeAnswer || cut == MidAnswer) {
			return l.cutAnswer(cut, f, to)
		}
		end := f.kind() == 'Z'
		waited := end && cut != none
		if waited {
			// Before the client gets it: its next commit may be on its way a moment later.
			l.answered(cut, committed)
		}
		if err := forward(to, f, end || from.Buffered() == 0); err != nil {
			return err
		}
		if !end {
			continue
		}
		if waited && committed {
			return errCut
		}
		segment, committed = segment+1, false
	}
}

// isCommitted says whether the server says that it has committed.
func isCommitted(f frame) bool { return f.kind() == 'C' && string(f.body()) == "COMMIT\x00" }

// answered ends the wait of a cut whose segment has been answered. If the commit was one, nothing more is forwarded from
// the client: it gets the answer, and then the connection ends.
func (l *link) answered(cut Point, committed bool) {
	l.disarm()
	if !committed {
		l.cuts.undone(cut)
		return
	}
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.cuts.done(cut)
}

func (l *link) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// cutAnswer withholds the answer to the commit, or half of it.
func (l *link) cutAnswer(p Point, answer frame, to *bufio.Writer) error {
	l.disarm()
	l.cuts.done(p)
	if p == MidAnswer {
		if _, err := to.Write(answer[:len(answer)/2]); err != nil {
			return err
		}
	}
	if err := to.Flush(); err != nil {
		return err
	}
	return errCut
}
