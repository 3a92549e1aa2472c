// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
)

func writeTree(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := writeFile(filepath.Join(root, name), []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCacheKey(t *testing.T) {
	base := component{name: "x", dir: "x", commands: map[string]string{"a": "m/a", "b": "m/b"}, tags: "t"}
	tree := map[string]string{"x/go.mod": "module x\n", "x/go.sum": "s\n", "x/main.go": "package main\n"}
	key := func(t *testing.T, c component, change map[string]string) string {
		t.Helper()
		root := t.TempDir()
		writeTree(t, root, tree)
		writeTree(t, root, change)
		got, err := cacheKey(root, c)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := key(t, base, nil)
	tagged, flagged, cgo, other := base, base, base, base
	tagged.tags, flagged.ldflags, cgo.cgo = "u", "-s", true
	other.commands = map[string]string{"a": "m/a"}
	for name, tc := range map[string]struct {
		c      component
		change map[string]string
		same   bool
	}{
		"another clone":  {c: base, same: true},
		"a test":         {c: base, change: map[string]string{"x/main_test.go": "package main\n"}, same: true},
		"a text":         {c: base, change: map[string]string{"x/README.md": "x"}, same: true},
		"requirements":   {c: base, change: map[string]string{"x/go.mod": "module y\n"}},
		"checksums":      {c: base, change: map[string]string{"x/go.sum": "t\n"}},
		"source":         {c: base, change: map[string]string{"x/main.go": "package main // x\n"}},
		"another source": {c: base, change: map[string]string{"x/sub/x.go": "package sub\n"}},
		"tags":           {c: tagged},
		"linker flags":   {c: flagged},
		"cgo":            {c: cgo},
		"commands":       {c: other},
	} {
		t.Run(name, func(t *testing.T) {
			if got := key(t, tc.c, tc.change); (got == want) != tc.same {
				t.Errorf("key %s, before the change %s; want same: %t", got, want, tc.same)
			}
		})
	}
}

func TestCatalogMatchesModules(t *testing.T) {
	s, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	names := nodeSet(nodeContainerd)
	components, err := selectComponents(s, names)
	if err != nil {
		t.Fatal(err)
	}
	if len(components) != len(names) {
		t.Errorf("%d components, want %v", len(components), names)
	}
	if got, want := kubernetesLdflags("v1.37.2"), "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2"+
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"; got != want {
		t.Errorf("linker flags %q, want %q", got, want)
	}
}

func TestLinkAllIsRepeatable(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"etcd-1/etcd": "binary"})
	folder := filepath.Join(root, "envtest")
	for range 2 {
		if err := linkAll(folder, map[string]string{"etcd": filepath.Join(root, "etcd-1", "etcd")}, func(string) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(folder, "etcd"))
	if err != nil || string(content) != "binary" {
		t.Errorf("read through the link: %q, %v", content, err)
	}
}
