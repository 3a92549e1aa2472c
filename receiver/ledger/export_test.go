// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/google/uuid"
)

// Waiting is how many events no batch has taken yet.
func (l *Ledger) Waiting() int {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	return len(l.queue.waiting)
}

// AnswerOfOne is the answer to an event with one effect, once as it is put together around the result, and once as a whole.
func AnswerOfOne(id, name, text string) (around, whole string, err error) {
	before, err := answerBefore(id, name)
	if err != nil {
		return "", "", err
	}
	answer, err := processedAnswer(id, []result{{name: name, text: text}})
	return before + text + afterResult, string(answer.Body), err
}

// IDs returns a maker of ids.
func IDs() func(now time.Time) (uuid.UUID, error) { return (&ids{}).next }
