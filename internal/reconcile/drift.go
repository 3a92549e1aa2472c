// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// drift returns the paths at which a live object is not as the operator desires, or whose owner is not the operator.
func drift(desired map[string]any, live client.Object, subresource string) ([]string, error) {
	return driftOf(desired, live, string(FieldOwner), subresource)
}

// driftOf compares the desired fields with the live ones along the set of fields that owner owns by the server's own
// bookkeeping (metadata.managedFields). That set has exactly what was applied, without the server's defaults and without
// what others added, so that the comparison needs no schema:
//
//	desired, owned, equal        as it should be
//	desired, owned, different    drift
//	desired, not owned           new in the intent, or somebody else has taken the field over
//	owned, not desired           left over from an earlier intent
//	neither                      none of the operator's business
func driftOf(desired map[string]any, live client.Object, owner, subresource string) ([]string, error) {
	desired = ownable(desired, subresource)
	fields, err := ownedFields(live, owner, subresource)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(live)
	if err != nil {
		return nil, fmt.Errorf("encode the live object: %w", err)
	}
	have := map[string]any{}
	if err := json.Unmarshal(encoded, &have); err != nil {
		return nil, fmt.Errorf("decode the live object: %w", err)
	}
	var found paths
	found.object("", desired, have, fields)
	slices.Sort(found)
	return found, nil
}

// ownable returns the desired fields without those that identify the object, which nobody owns. Of an apply to a
// subresource only that subtree counts.
func ownable(desired map[string]any, subresource string) map[string]any {
	if subresource != "" {
		part, ok := desired[subresource]
		if !ok {
			return map[string]any{}
		}
		return map[string]any{subresource: part}
	}
	out := maps.Clone(desired)
	delete(out, "apiVersion")
	delete(out, "kind")
	if metadata, ok := out["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "name")
		delete(metadata, "namespace")
		out["metadata"] = metadata
	}
	return out
}

// ownedFields returns the trie of fields that owner has applied: "f:name" is a member, "k:{...}" an element of a list by
// its keys, "v:..." an element of a set, "." the node itself.
func ownedFields(live client.Object, owner, subresource string) (map[string]any, error) {
	fields := map[string]any{}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager != owner || entry.Operation != metav1.ManagedFieldsOperationApply ||
			entry.Subresource != subresource || entry.FieldsV1 == nil {
			continue
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			return nil, fmt.Errorf("decode managed fields: %w", err)
		}
		return fields, nil
	}
	return fields, nil
}

// paths collects the paths at which two objects differ.
type paths []string

// object compares the members of two objects.
func (p *paths) object(path string, desired, live, fields map[string]any) {
	for key, child := range fields {
		name, ok := strings.CutPrefix(key, "f:")
		if !ok {
			continue
		}
		at := path + "." + name
		want, wanted := desired[name]
		have, there := live[name]
		if !wanted || !there {
			*p = append(*p, at)
			continue
		}
		p.value(at, want, have, members(child))
	}
	for name := range desired {
		if _, owned := fields["f:"+name]; !owned {
			*p = append(*p, path+"."+name)
		}
	}
}

// value compares two values. Without children in the trie the value is owned as a whole.
func (p *paths) value(path string, desired, live any, fields map[string]any) {
	if len(fields) == 0 {
		if !reflect.DeepEqual(desired, live) {
			*p = append(*p, path)
		}
		return
	}
	switch want := desired.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok {
			*p = append(*p, path)
			return
		}
		p.object(path, want, have, fields)
	case []any:
		have, ok := live.([]any)
		if !ok || len(want) != len(fields) {
			*p = append(*p, path)
			return
		}
		p.elements(path, want, have, fields)
	default:
		*p = append(*p, path)
	}
}

// elements compares two lists whose elements are known by keys or by value.
func (p *paths) elements(path string, desired, live []any, fields map[string]any) {
	for key, child := range fields {
		at := path + "[" + key[2:] + "]"
		want, wanted := element(desired, key)
		have, there := element(live, key)
		if !wanted || !there {
			*p = append(*p, at)
			continue
		}
		p.value(at, want, have, members(child))
	}
}

// element returns the element of a list that a trie's key means.
func element(list []any, key string) (any, bool) {
	var want any
	if json.Unmarshal([]byte(key[2:]), &want) != nil {
		return nil, false
	}
	for _, candidate := range list {
		if strings.HasPrefix(key, "v:") {
			if reflect.DeepEqual(candidate, want) {
				return candidate, true
			}
			continue
		}
		keys, _ := want.(map[string]any)
		object, ok := candidate.(map[string]any)
		if ok && len(keys) > 0 && contains(object, keys) {
			return candidate, true
		}
	}
	return nil, false
}

// contains says whether an object has the given members.
func contains(object, want map[string]any) bool {
	for name, value := range want {
		if !reflect.DeepEqual(object[name], value) {
			return false
		}
	}
	return true
}

// members returns the children of a node of the trie, without the mark for the node itself.
func members(node any) map[string]any {
	children, _ := node.(map[string]any)
	if _, marked := children["."]; !marked {
		return children
	}
	children = maps.Clone(children)
	delete(children, ".")
	return children
}
