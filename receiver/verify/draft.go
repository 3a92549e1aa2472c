// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookonce/hookonce/internal/scheme"
)

// Body makes a JSON body that has each value where the scheme looks for it first: the least that a provider would send. An
// id that is composed of several members gets what is given for them, the id where there is nothing yet, and then numbers.
// An error says that two of the scheme's paths overlap.
func Body(s scheme.Scheme, eventID, eventType, resourceID string) ([]byte, error) {
	event := map[string]any{}
	for _, v := range []struct {
		sources []scheme.Source
		text    string
	}{{s.EventType, eventType}, {s.ResourceID, resourceID}, {s.EventID, eventID}} {
		if len(v.sources) == 0 || v.text == "" {
			continue
		}
		for i, leaf := range append([]scheme.Source{v.sources[0]}, v.sources[0].Compose...) {
			if len(leaf.Path) == 0 {
				continue
			}
			placed, err := place(event, leaf.Path, v.text)
			if err != nil {
				return nil, err
			}
			if placed && i > 0 {
				v.text = fmt.Sprint(i)
			}
		}
	}
	body, err := json.Marshal(inBatch(s.Batch, event))
	if err != nil {
		return nil, fmt.Errorf("make the body: %w", err)
	}
	return body, nil
}

func inBatch(b *scheme.Batch, event any) any {
	if b == nil {
		return event
	}
	if b.Member != "" {
		event = map[string]any{b.Member: event}
	}
	out := any([]any{event})
	for _, name := range slices.Backward(b.Path) {
		out = map[string]any{name: out}
	}
	return out
}

// place sets the member at the path, unless it is there already.
func place(object map[string]any, path []string, text string) (bool, error) {
	for i, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if _, taken := object[name]; taken && !ok {
			return false, fmt.Errorf("the scheme's paths overlap at %q; write the body yourself", strings.Join(path[:i+1], "."))
		}
		if inner == nil {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	last := path[len(path)-1]
	if _, taken := object[last]; taken {
		return false, nil
	}
	object[last] = text
	return true, nil
}
