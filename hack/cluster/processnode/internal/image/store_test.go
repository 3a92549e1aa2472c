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
	if got, want := filepath.Base(folder), "ghcr.io%2Fhookonce%2Fhookonce:dev"; got != want {
		t.Fatalf("folder is %q, want %q", got, want)
	}
	build := filepath.Join(store.Dir, ".build-1")
	if err := os.Symlink(".build-1", folder); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(build, "rootfs/receiver"), "binary", 0o755)
	writeFile(t, filepath.Join(build, "rootfs/notes"), "text", 0o644)
	writeFile(t, filepath.Join(build, "outside"), "binary", 0o755)
	writeFile(t, filepath.Join(build, "image.json"), `{"digest":"sha256:1","entrypoint":["/receiver","serve"],"user":"65532"}`, 0o644)

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
		{name: "empty", command: []string{""}, wantErr: "names a command"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := store.Resolve("ghcr.io/hookonce/hookonce:dev", test.command, test.args)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error is %v, want %q in it", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := Resolved{Program: filepath.Join(build, "rootfs/receiver"), Args: test.want, Digest: "sha256:1"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveUnknownImage(t *testing.T) {
	store := Store{Dir: t.TempDir()}
	_, err := store.Resolve("nowhere:1", []string{"/x"}, nil)
	if _, ok := errors.AsType[*MissingError](err); !ok {
		t.Fatalf("error is %v, want a *MissingError", err)
	}
	if !strings.Contains(err.Error(), "nowhere:1") {
		t.Errorf("the message %q does not name the folder", err)
	}
}

func TestResolveWithoutManifest(t *testing.T) {
	store := Store{Dir: t.TempDir()}
	writeFile(t, filepath.Join(store.Folder("app"), "rootfs/app"), "binary", 0o755)
	if _, err := store.Resolve("app", []string{"/app"}, nil); err != nil {
		t.Error(err)
	}
	if _, err := store.Resolve("app", nil, nil); err == nil {
		t.Error("no command, and no entrypoint, but no error")
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
