// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// refuseUnknown names every member of a document that its type does not have, with its whole path: encoding/json names one,
// and not where.
func refuseUnknown(path string, value, of any) error {
	return errors.Join(unknown(path, value, reflect.TypeOf(of))...)
}

func unknown(path string, value any, of reflect.Type) []error {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	var problems []error
	switch value := value.(type) {
	case []any:
		if of.Kind() != reflect.Slice || of == reflect.TypeFor[json.RawMessage]() {
			return nil
		}
		for i, element := range value {
			problems = append(problems, unknown(fmt.Sprintf("%s[%d]", path, i), element, of.Elem())...)
		}
	case map[string]any:
		if of.Kind() != reflect.Struct {
			return nil
		}
		fields := fieldsOf(of)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			field, known := fields[name]
			if !known {
				problems = append(problems, fmt.Errorf("%s.%s: there is no such field; known are %s",
					path, name, strings.Join(slices.Sorted(maps.Keys(fields)), ", ")))
				continue
			}
			problems = append(problems, unknown(path+"."+name, value[name], field)...)
		}
	}
	return problems
}

// fieldsOf returns the type of each member by its name in JSON.
func fieldsOf(of reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields[name] = field.Type
	}
	return fields
}
