// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNormalReference(t *testing.T) {
	for reference, want := range map[string]string{
		"hookonce":                     "docker.io/library/hookonce:latest",
		"hookonce/hookonce:dev":        "docker.io/hookonce/hookonce:dev",
		"ghcr.io/hookonce/hookonce":    "ghcr.io/hookonce/hookonce:latest",
		"localhost:5000/hookonce:1":    "localhost:5000/hookonce:1",
		"localhost:5000/hookonce":      "localhost:5000/hookonce:latest",
		"docker.io/hookonce/pause:loc": "docker.io/hookonce/pause:loc",
	} {
		got, err := normalReference(reference)
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", reference, got, err, want)
		}
	}
	for _, reference := range []string{"", "a b", "a@sha256:0"} {
		if got, err := normalReference(reference); err == nil {
			t.Errorf("%q: got %s, want an error", reference, got)
		}
	}
}

func TestImageNames(t *testing.T) {
	for reference, want := range map[string][]string{
		"ghcr.io/a/b:1":              {"ghcr.io/a/b:1"},
		"docker.io/a/b:1":            {"docker.io/a/b:1", "a/b:1"},
		"docker.io/library/b:latest": {"docker.io/library/b:latest", "library/b:latest", "b:latest", "docker.io/library/b", "library/b", "b"},
	} {
		if got := imageNames(reference); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", reference, got, want)
		}
	}
}

func specIn(t *testing.T, content string) imageSpec {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "receiver")
	if err := writeFile(binary, []byte(content)); err != nil {
		t.Fatal(err)
	}
	return imageSpec{reference: "docker.io/hookonce/hookonce:dev", user: "65532", binaries: []string{binary}}
}

func TestBuildImage(t *testing.T) {
	built, err := buildImage(specIn(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := buildImage(specIn(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := buildImage(specIn(t, "two"))
	if err != nil {
		t.Fatal(err)
	}
	if built.digest != again.digest || built.digest == other.digest {
		t.Errorf("digests: %s, again %s, other content %s", built.digest, again.digest, other.digest)
	}
	config, err := built.image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532" || len(config.Config.Entrypoint) != 1 || config.Config.Entrypoint[0] != "/receiver" {
		t.Errorf("user %q, entrypoint %q", config.Config.User, config.Config.Entrypoint)
	}
}

func TestUnpackIntoReplacesTheImage(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"one", "two", "two"} {
		built, err := buildImage(specIn(t, content))
		if err != nil {
			t.Fatal(err)
		}
		if err := built.unpackInto(dir); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, "docker.io%2Fhookonce%2Fhookonce:dev")
		got, err := os.ReadFile(filepath.Join(folder, "rootfs", "receiver"))
		if err != nil || string(got) != content {
			t.Errorf("binary holds %q, %v; want %q", got, err, content)
		}
		if _, err := os.Stat(filepath.Join(dir, "hookonce%2Fhookonce:dev", "rootfs", "receiver")); err != nil {
			t.Errorf("the image lacks its short name: %v", err)
		}
		var manifest imageManifest
		description, err := os.ReadFile(filepath.Join(folder, "image.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(description, &manifest); err != nil {
			t.Fatal(err)
		}
		if manifest.Digest != built.digest.String() || manifest.Entrypoint[0] != "/receiver" {
			t.Errorf("manifest %+v", manifest)
		}
	}
}
