// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Tally is how often each id is in a list.
type Tally map[string]int

// ReadTally reads a list of ids, one a line: an id for each time that it was recorded, or an id and a number with a blank, a
// tab, a comma, a semicolon or a | between them, as psql -At and CSV write them. Empty lines are left out.
func ReadTally(in io.Reader) (Tally, error) {
	tally := Tally{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		fields := strings.FieldsFunc(lines.Text(), func(r rune) bool { return strings.ContainsRune(" \t,;|\"", r) })
		switch len(fields) {
		case 0:
		case 1:
			tally[fields[0]]++
		case 2:
			count, err := strconv.Atoi(fields[1])
			if err != nil || count < 0 {
				return nil, fmt.Errorf("line %d of the list: the second field should be a number of times", n)
			}
			tally[fields[0]] += count
		default:
			return nil, fmt.Errorf("line %d of the list has %d fields; write an id, or an id and a number", n, len(fields))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	return tally, nil
}

// Count says how often each event is there, by its own id or by that of its resource.
func (t Tally) Count(events []Event) map[string]int {
	counts := map[string]int{}
	for _, event := range events {
		counts[event.ID] = t[event.ID]
		if counts[event.ID] == 0 && event.ResourceID != "" {
			counts[event.ID] = t[event.ResourceID]
		}
	}
	return counts
}
