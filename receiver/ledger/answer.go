// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/hookonce/hookonce/receiver"
)

// result is what one effect answered, as JSON text.
type result struct{ name, text string }

// The answers are built by hand, from encoded parts: a duplicate must get the same bytes years later.

// standardAnswer is the answer to an event without effects. It is not stored: it follows from the id.
func standardAnswer(id string) (receiver.Answer, error) {
	if !plain(id) {
		return answer(id, "")
	}
	const before, after = `{"event":"`, `"}`
	body := make([]byte, 0, len(before)+len(id)+len(after))
	return receiver.Answer{Status: http.StatusOK, Body: append(append(append(body, before...), id...), after...)}, nil
}

// plain says that a text is the same in JSON, as nearly all ids are.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func processedAnswer(id string, results []result) (receiver.Answer, error) {
	if len(results) == 0 {
		return standardAnswer(id)
	}
	var effects bytes.Buffer
	for i, r := range results {
		name, err := quoteJSON(r.name)
		if err != nil {
			return receiver.Answer{}, err
		}
		if i > 0 {
			effects.WriteByte(',')
		}
		effects.WriteString(name + ":" + r.text)
	}
	return answer(id, `,"effects":{`+effects.String()+`}`)
}

// afterResult is what comes after the result of one effect in an answer.
const afterResult = "}}"

// answerBefore is processedAnswer for one effect, up to its result; afterResult comes after that.
func answerBefore(id, name string) (string, error) {
	const mark = "null"
	if plain(id) && plain(name) {
		return `{"event":"` + id + `","effects":{"` + name + `":`, nil
	}
	whole, err := processedAnswer(id, []result{{name: name, text: mark}})
	return strings.TrimSuffix(string(whole.Body), mark+afterResult), err
}

func refusedAnswer(id, message string) (receiver.Answer, error) {
	text, err := quoteJSON(message)
	if err != nil {
		return receiver.Answer{}, err
	}
	return answer(id, `,"refused":`+text)
}

func answer(id, rest string) (receiver.Answer, error) {
	event, err := quoteJSON(id)
	if err != nil {
		return receiver.Answer{}, err
	}
	return receiver.Answer{Status: http.StatusOK, Body: []byte(`{"event":` + event + rest + `}`)}, nil
}

func quoteJSON(text string) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return "", fmt.Errorf("encode answer: %w", err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}
