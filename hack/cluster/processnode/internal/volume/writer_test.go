// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var testTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, dir string, files map[string]File) bool {
	t.Helper()
	changed, err := Write(dir, files, testTime)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// visible reads what a program sees: everything except the names that begin with "..".
func visible(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := make(map[string]string)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		target, err := os.Readlink(filepath.Join(dir, entry.Name()))
		if err != nil || target != filepath.Join("..data", entry.Name()) {
			t.Errorf("%s is not a link through ..data: %q, %v", entry.Name(), target, err)
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			content = []byte("a folder")
		}
		got[entry.Name()] = string(content)
	}
	return got
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]File{"a": {[]byte("1"), 0o644}, "gone": {[]byte("2"), 0o644}, "sub/b": {[]byte("3"), 0o400}})
	if diff := cmp.Diff(map[string]string{"a": "1", "gone": "2", "sub": "a folder"}, visible(t, dir)); diff != "" {
		t.Fatalf("first content (-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(dir, "sub/b"))
	if err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("mode of sub/b is %v (%v), want 0400", info.Mode().Perm(), err)
	}

	if !write(t, dir, map[string]File{"a": {[]byte("new"), 0o644}, "c": {nil, 0o644}}) {
		t.Error("new content is reported as no change")
	}
	if diff := cmp.Diff(map[string]string{"a": "new", "c": ""}, visible(t, dir)); diff != "" {
		t.Errorf("second content (-want +got):\n%s", diff)
	}
	snapshots, _ := filepath.Glob(filepath.Join(dir, "..2026_11_30_12_00_00.*"))
	if len(snapshots) != 1 {
		t.Errorf("snapshots left: %v, want only the current one", snapshots)
	}
}

func TestWriteNothingNew(t *testing.T) {
	dir := t.TempDir()
	files := map[string]File{"a": {[]byte("1"), 0o644}, "sub/b": {[]byte("2"), 0o644}}
	write(t, dir, files)
	before, err := os.Readlink(filepath.Join(dir, "..data"))
	if err != nil {
		t.Fatal(err)
	}
	if write(t, dir, files) {
		t.Error("the same content is reported as a change")
	}
	after, _ := os.Readlink(filepath.Join(dir, "..data"))
	if before != after {
		t.Errorf("the link moved from %s to %s", before, after)
	}
	for name, files := range map[string]map[string]File{
		"another mode": {"a": {[]byte("1"), 0o600}, "sub/b": {[]byte("2"), 0o644}},
		"a file less":  {"a": {[]byte("1"), 0o600}},
		"no files":     {},
	} {
		if !write(t, dir, files) {
			t.Errorf("%s is reported as no change", name)
		}
	}
}

// A reader never finds the link away, and the folder behind it is never a mixture.
func TestWriteIsAtomic(t *testing.T) {
	dir := t.TempDir()
	version := func(v string) map[string]File {
		return map[string]File{"a": {[]byte(v), 0o644}, "b": {[]byte(v), 0o644}}
	}
	write(t, dir, version("0"))
	stop := make(chan struct{})
	mixed := make(chan string, 1)
	go func() {
		defer close(mixed)
		for {
			select {
			case <-stop:
				return
			default:
			}
			snapshot, err := os.Readlink(filepath.Join(dir, "..data"))
			if err != nil {
				mixed <- "no link: " + err.Error()
				return
			}
			a, errA := os.ReadFile(filepath.Join(dir, snapshot, "a"))
			b, errB := os.ReadFile(filepath.Join(dir, snapshot, "b"))
			if errA == nil && errB == nil && string(a) != string(b) {
				mixed <- string(a) + " and " + string(b)
				return
			}
		}
	}()
	for i := range 200 {
		write(t, dir, version(string(rune('a'+i%26))))
	}
	close(stop)
	if seen, bad := <-mixed; bad {
		t.Errorf("a reader saw %s", seen)
	}
}

func TestWriteRefusesToLeaveTheVolume(t *testing.T) {
	for _, name := range []string{"../x", "/x", "a/../../x", "..data"} {
		if _, err := Write(t.TempDir(), map[string]File{name: {}}, testTime); err == nil {
			t.Errorf("the path %q was accepted", name)
		}
	}
}
