// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	store := Store{Dir: t.TempDir()}
	folder := store.Folder("ghcr.io/hookonce/hookonce:dev")
	if got, want := filepath.Base(folder), "ghcr.io_hookonce_hookonce_dev"; got != want {
		t.Fatalf("folder is %q, want %q", got, want)
	}
	writeFile(t, filepath.Join(folder, "receiver"), "binary", 0o755)
	writeFile(t, filepath.Join(folder, "notes"), "text", 0o644)
	writeFile(t, filepath.Join(folder, "entrypoint"), "/receiver\nserve\n", 0o644)
	writeFile(t, filepath.Join(store.Dir, "outside"), "binary", 0o755)

	tests := []struct {
		name          string
		command, args []string
		want          []string
		wantErr       string
	}{
		{name: "path", command: []string{"/receiver"}, args: []string{"serve"}, want: []string{"serve"}},
		{name: "bare name", command: []string{"receiver", "migrate"}, args: []string{"-v"}, want: []string{"migrate", "-v"}},
		{name: "entrypoint", args: []string{"-v"}, want: []string{"serve", "-v"}},
		{name: "no such program", command: []string{"/operator"}, wantErr: `no program "/operator"`},
		{name: "not executable", command: []string{"/notes"}, wantErr: "not an executable file"},
		{name: "outside the image", command: []string{"../outside"}, wantErr: "no program"},
		{name: "empty", command: []string{""}, wantErr: "the command is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			program, arguments, err := store.Resolve("ghcr.io/hookonce/hookonce:dev", test.command, test.args)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error is %v, want %q in it", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if program != filepath.Join(folder, "receiver") {
				t.Errorf("program is %s", program)
			}
			if diff := cmp.Diff(test.want, arguments); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveUnknownImage(t *testing.T) {
	store := Store{Dir: t.TempDir()}
	_, _, err := store.Resolve("nowhere:1", []string{"/x"}, nil)
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("error is %v, want a *MissingError", err)
	}
	if !strings.Contains(err.Error(), "nowhere_1") {
		t.Errorf("the message %q does not name the folder", err)
	}
}

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}
