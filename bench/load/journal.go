// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import "fmt"

// fate is what became of a request.
type fate uint8

const (
	// unknown requests got no answer.
	unknown fate = iota
	acknowledged
	refused
)

// Journal is what became of every request of a run.
type Journal struct {
	run     uint32
	senders [][]fate
}

func newJournal(run uint32, senders int) *Journal {
	return &Journal{run: run, senders: make([][]fate, senders)}
}

// note is called by one goroutine for each sender.
func (j *Journal) note(n Number, status int) {
	f := refused
	switch {
	case status == 0:
		f = unknown
	case status/100 == 2:
		f = acknowledged
	}
	j.senders[n.Sender] = append(j.senders[n.Sender], f)
}

// Audit is the comparison of a journal with what a database holds.
type Audit struct {
	// Acknowledged is how many requests were acknowledged.
	Acknowledged int
	// Lost of them are not in the database.
	Lost int
	// Unacknowledged events are in the database although their sender was not told so, or was told to come again: their
	// commit's outcome was unknown.
	Unacknowledged int
}

// Audit compares the journal with the event ids that a database holds. It is an error if one is there twice, or of
// another run.
func (j *Journal) Audit(eventIDs []string) (Audit, error) {
	held := make([][]bool, len(j.senders))
	for i, fates := range j.senders {
		held[i] = make([]bool, len(fates))
	}
	for _, id := range eventIDs {
		n, err := Parse(id)
		if err != nil {
			return Audit{}, err
		}
		if n.Run != j.run || n.Sender >= len(held) || n.Sequence >= len(held[n.Sender]) || held[n.Sender][n.Sequence] {
			return Audit{}, fmt.Errorf("the database holds %s twice, or it was not sent in this run", id)
		}
		held[n.Sender][n.Sequence] = true
	}
	var audit Audit
	for i, fates := range j.senders {
		for k, f := range fates {
			switch {
			case f == acknowledged:
				audit.Acknowledged++
				if !held[i][k] {
					audit.Lost++
				}
			case held[i][k]:
				audit.Unacknowledged++
			}
		}
	}
	return audit, nil
}
