// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package cutter

import (
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// purpose is what a statement means to the tracker.
type purpose int

const (
	other purpose = iota
	begins
	claims
	commits
	rollsBack
)

// purposeOf reads a statement. A claim is an insert into the dedup table, in whatever schema that is.
func purposeOf(sql string) purpose {
	text := strings.ToLower(withoutComments(sql))
	word := strings.TrimRight(strings.Fields(text + " ;")[0], ";")
	switch {
	case word == "commit" || word == "end":
		return commits
	case word == "begin" || word == "start":
		return begins
	case word == "rollback" && !strings.Contains(text, " to "), word == "abort":
		return rollsBack
	case strings.Contains(text, "insert into") && strings.Contains(strings.ReplaceAll(text, `"`, ""), ".claim"):
		return claims
	}
	return other
}

func withoutComments(sql string) string {
	var text strings.Builder
	for line := range strings.Lines(sql) {
		before, _, _ := strings.Cut(line, "--")
		text.WriteString(before + "\n")
	}
	return text.String()
}

// tracker follows what a client does on one connection.
type tracker struct {
	statements, portals map[string]purpose
	// claimed says that the open transaction has written a claim.
	claimed bool
	// segment numbers what the server ends with a ReadyForQuery; the first is the startup.
	segment int
}

func newTracker() *tracker {
	return &tracker{statements: map[string]purpose{}, portals: map[string]purpose{}}
}

// see follows a message, and says whether it is the COMMIT of a transaction that has written a claim. A message that
// binds a COMMIT counts as one already: nothing of it may be forwarded if the cut is before it.
func (t *tracker) see(f frame) (commit bool, err error) {
	switch f.kind() {
	case 'P':
		var m pgproto3.Parse
		if err := m.Decode(f.body()); err != nil {
			return false, err
		}
		t.statements[m.Name] = purposeOf(m.Query)
	case 'B':
		var m pgproto3.Bind
		if err := m.Decode(f.body()); err != nil {
			return false, err
		}
		is := t.statements[m.PreparedStatement]
		t.portals[m.DestinationPortal] = is
		return is == commits && t.claimed, nil
	case 'E':
		var m pgproto3.Execute
		if err := m.Decode(f.body()); err != nil {
			return false, err
		}
		t.run(t.portals[m.Portal])
	case 'Q':
		var m pgproto3.Query
		if err := m.Decode(f.body()); err != nil {
			return false, err
		}
		return t.query(m.String), nil
	}
	return false, nil
}

func (t *tracker) query(sql string) (commit bool) {
	for statement := range strings.SplitSeq(sql, ";") {
		is := purposeOf(statement)
		commit = commit || is == commits && t.claimed
		t.run(is)
	}
	return commit
}

func (t *tracker) run(is purpose) {
	switch is {
	case begins, commits, rollsBack:
		t.claimed = false
	case claims:
		t.claimed = true
	case other:
	}
}

// ends says whether the server answers the message with a ReadyForQuery.
func ends(f frame) bool { return f.kind() == 'S' || f.kind() == 'Q' || f.kind() == 'F' }
