// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sqlfile loads SQL statements from embedded files, one statement a file. The files are written with the schema
// hookonce, so that they can be read and tried as they are; the schema of an installation replaces it at load.
package sqlfile

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// written is how the files name the schema.
const written = "hookonce."

// maxNameBytes is how long the server lets a name be.
const maxNameBytes = 63

// IsName says whether a schema, a function or one of its parts may be called so: what needs no quotes, and so cannot break
// out of them. It is no regular expression: a bounded repetition costs each process 100 KiB before it has done anything.
func IsName(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != "" && len(text) <= maxNameBytes
}

// InvalidNameError says that a name is not one that statements may be built with.
type InvalidNameError struct{ Name string }

func (e *InvalidNameError) Error() string {
	return fmt.Sprintf("%q is not a name of lower-case letters, digits and underscores, of at most 63 bytes", e.Name)
}

// Quote returns a dotted name with every part in quotes; reserved words are fine. Errors are *InvalidNameError.
func Quote(name string) (string, error) {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if !IsName(part) {
			return "", &InvalidNameError{Name: name}
		}
		parts[i] = `"` + part + `"`
	}
	return strings.Join(parts, "."), nil
}

// Load reads the files that match the pattern and returns their statements, for the schema, by file name without .sql.
func Load(files fs.FS, pattern, schema string) (map[string]string, error) {
	if strings.Contains(schema, ".") {
		return nil, &InvalidNameError{Name: schema}
	}
	quoted, err := Quote(schema)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, fmt.Errorf("list statements: %w", err)
	}
	statements := make(map[string]string, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read statement: %w", err)
		}
		statements[strings.TrimSuffix(path.Base(name), ".sql")] = inSchema(string(text), quoted+".")
	}
	return statements, nil
}

// inSchema puts the schema in place of written, wherever that is not the end of a longer name. It is no regular expression:
// those took 150 KiB for the statements of a ledger, and their buffers stayed.
func inSchema(text, schema string) string {
	var statement strings.Builder
	statement.Grow(len(text) + len(schema))
	for {
		before, after, found := strings.Cut(text, written)
		statement.WriteString(before)
		switch {
		case !found:
			return statement.String()
		case before != "" && inName(before[len(before)-1]):
			statement.WriteString(written)
		default:
			statement.WriteString(schema)
		}
		text = after
	}
}

func inName(c byte) bool {
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
}
