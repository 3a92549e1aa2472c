// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Every test that docs/rotation-cases.md names is in the tree.
func TestCasesHaveTheirTests(t *testing.T) {
	root := filepath.Join("..", "..")
	table, err := os.ReadFile(filepath.Join(root, "docs", "rotation-cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9/]+): (Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(table), -1)
	if len(named) < 40 {
		t.Fatalf("the table names %d tests: is it written as it says?", len(named))
	}
	known := map[string]map[string]bool{}
	for _, n := range named {
		folder, name := n[1], n[2]
		if known[folder] == nil {
			known[folder] = testsIn(t, filepath.Join(root, filepath.FromSlash(folder)))
		}
		if !known[folder][name] {
			t.Errorf("%s has no %s", folder, name)
		}
	}
}

// testsIn returns the functions of the tests in a folder, whatever their build tags.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = true
			}
		}
	}
	return tests
}
