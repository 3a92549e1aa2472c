// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package oracles

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// What a delivery says on the wire, read in the simplest way: rules judge by it.

var plainID = regexp.MustCompile(`^[!-~]{1,255}$`)

// signatureSent is the signature's header, of whichever family it is.
func (d *delivery) signatureSent() string {
	if sent := d.header.Get(d.grammar.signature); sent != "" || d.grammar.signature != standardGrammar.signature {
		return sent
	}
	return d.header.Get("Svix-Signature")
}

func (d *delivery) elementsSent() []string {
	if d.separator == "" {
		return []string{d.signatureSent()}
	}
	return strings.Split(d.signatureSent(), d.separator)
}

func (d *delivery) countElements(prefix string) int {
	n := 0
	for _, element := range d.elementsSent() {
		if strings.HasPrefix(element, prefix) {
			n++
		}
	}
	return n
}

// timestampSent is the last one, where there are several.
func (d *delivery) timestampSent() string {
	if d.timePrefix == "" {
		if sent := d.header.Get(d.timestamp); sent != "" || d.timestamp != standardGrammar.timestamp {
			return sent
		}
		return d.header.Get("Svix-Timestamp")
	}
	found := ""
	for _, element := range d.elementsSent() {
		if rest, ok := strings.CutPrefix(element, d.timePrefix); ok {
			found = rest
		}
	}
	return found
}

// idSent is the event id, and whether it is a text; no id is the empty text.
func (d *delivery) idSent() (string, bool) {
	if d.id != "" {
		if id := d.header.Get(d.id); id != "" {
			return id, true
		}
		return d.header.Get("Svix-Id"), true
	}
	var members map[string]any
	if err := json.Unmarshal(d.payload(), &members); err != nil {
		return "", true
	}
	for _, name := range []string{"event_id", "id"} {
		if value := members[name]; value != nil {
			id, isText := value.(string)
			return id, isText
		}
	}
	return "", true
}

// payload is the JSON of the body, or of the form that GitHub may send instead.
func (d *delivery) payload() []byte {
	kind, _, _ := mime.ParseMediaType(d.header.Get("Content-Type"))
	if kind != "application/x-www-form-urlencoded" || d.eventType == "" {
		return d.body
	}
	form, err := url.ParseQuery(string(d.body))
	if err != nil {
		return nil
	}
	return []byte(form.Get("payload"))
}

// repeatsMember says whether a name is there twice in the same object, at any depth.
func repeatsMember(document []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(document))
	type level struct {
		names map[string]bool
		// isName says that the next token is a name.
		isName bool
	}
	var open []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		top := len(open) - 1
		if name, ok := token.(string); ok && top >= 0 && open[top].names != nil && open[top].isName {
			if open[top].names[name] {
				return true
			}
			open[top].names[name], open[top].isName = true, false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}, isName: true})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
		}
		if len(open) > 0 {
			open[len(open)-1].isName = true
		}
	}
}

// changed says whether any of these changes was made.
func (d *delivery) changed(changes []change) bool {
	return slices.ContainsFunc(changes, func(c change) bool { return slices.Contains(d.changes, c.name) })
}

// repeatsField says whether a form has a field twice.
func repeatsField(body []byte) bool {
	form, err := url.ParseQuery(string(body))
	return err == nil && slices.ContainsFunc(slices.Collect(maps.Values(form)), func(values []string) bool { return len(values) > 1 })
}
