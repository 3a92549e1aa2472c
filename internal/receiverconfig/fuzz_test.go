// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiverconfig_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverconfig"
)

// FuzzParse holds Parse to what receivers rely on: whatever is mounted, it returns an error or a configuration that is valid,
// and that Encode writes in a way that gives the same one again. The seeds are the documents of the golden files of render.
func FuzzParse(f *testing.F) {
	for _, document := range goldens(f) {
		f.Add(document)
	}
	f.Add([]byte(`{"version": 2}`))
	f.Add([]byte(`{"version": 1, "scheme": {"eventID": [{"compose": [{"compose": [{}]}]}]}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		config, err := receiverconfig.Parse(document)
		if err != nil {
			return
		}
		if err := config.Validate(); err != nil {
			t.Fatalf("a document was accepted that is not valid: %v", err)
		}
		encoded, err := config.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := receiverconfig.Parse(encoded)
		if err != nil {
			// Only what was within a few bytes of the limit grows beyond it, by the blanks that Encode adds for people.
			if len(encoded) > receiverconfig.MaxBytes {
				return
			}
			t.Fatalf("what was written cannot be read: %v\n%s", err, encoded)
		}
		second, err := again.Encode()
		if err != nil || !bytes.Equal(encoded, second) {
			t.Fatalf("what was written reads as another configuration (%v):\n%s", err, cmp.Diff(string(encoded), string(second)))
		}
	})
}

// goldens are the configurations in the golden files of internal/render: each is a block of YAML that is indented by four.
func goldens(f *testing.F) [][]byte {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("..", "render", "testdata", "*", "out.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	var documents [][]byte
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, rest, found := strings.Cut(string(content), "\n  "+receiverconfig.FileName+": |\n")
		var document strings.Builder
		for line := range strings.Lines(rest) {
			text, inside := strings.CutPrefix(line, "    ")
			if !inside {
				break
			}
			document.WriteString(text)
		}
		if _, err := receiverconfig.Parse([]byte(document.String())); !found || err != nil {
			f.Fatalf("%s: no document that can be read: %v", file, err)
		}
		documents = append(documents, []byte(document.String()))
	}
	return documents
}
