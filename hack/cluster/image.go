// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageSpec is an image to make of static binaries: nothing else is in it but the host's
// certificate authorities.
type imageSpec struct {
	reference  string   // as normalReference returns it
	user       string   // numeric
	binaries   []string // put at /NAME
	entrypoint string   // path inside the image; the first binary by default
}

// builtImage is an image in memory and what identifies it.
type builtImage struct {
	spec   imageSpec
	image  v1.Image
	digest v1.Hash
}

const hostAuthorities = "/etc/ssl/certs/ca-certificates.crt"

// normalReference completes a reference the way the kubelet and containerd do.
func normalReference(reference string) (string, error) {
	if reference == "" || strings.ContainsAny(reference, " @\t\n") {
		return "", fmt.Errorf("image reference %q: want NAME or NAME:TAG", reference)
	}
	first, _, hasPath := strings.Cut(reference, "/")
	switch {
	case !hasPath:
		reference = "docker.io/library/" + reference
	case !strings.ContainsAny(first, ".:") && first != "localhost":
		reference = "docker.io/" + reference
	}
	if !strings.Contains(reference[strings.LastIndex(reference, "/"):], ":") {
		reference += ":latest"
	}
	return reference, nil
}

// buildImage makes the same image, to the digest, of the same binaries.
func buildImage(spec imageSpec) (builtImage, error) {
	layer, err := buildLayer(spec)
	if err != nil {
		return builtImage{}, err
	}
	base := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	base = mutate.ConfigMediaType(base, types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return builtImage{}, fmt.Errorf("make image %s: %w", spec.reference, err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return builtImage{}, fmt.Errorf("configure image %s: %w", spec.reference, err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config.User = spec.user
	config.Config.Entrypoint = []string{spec.entry()}
	config.Config.Env = []string{"PATH=/", "SSL_CERT_FILE=" + hostAuthorities}
	config.Config.WorkingDir = "/"
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return builtImage{}, fmt.Errorf("configure image %s: %w", spec.reference, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return builtImage{}, fmt.Errorf("hash image %s: %w", spec.reference, err)
	}
	return builtImage{spec: spec, image: image, digest: digest}, nil
}

func (spec imageSpec) entry() string {
	if spec.entrypoint != "" {
		return spec.entrypoint
	}
	return "/" + filepath.Base(spec.binaries[0])
}

func buildLayer(spec imageSpec) (v1.Layer, error) {
	if len(spec.binaries) == 0 {
		return nil, errors.New("an image needs at least one --binary")
	}
	files := map[string]string{}
	for _, binary := range spec.binaries {
		files[filepath.Base(binary)] = binary
	}
	if _, err := os.Stat(hostAuthorities); err == nil {
		files[strings.TrimPrefix(hostAuthorities, "/")] = hostAuthorities
	}
	content, err := packFiles(files)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(1))
	if err != nil {
		return nil, fmt.Errorf("compress image %s: %w", spec.reference, err)
	}
	return layer, nil
}

// packFiles makes a tar of files (path inside: path on the host) which depends on nothing but
// their contents.
func packFiles(files map[string]string) ([]byte, error) {
	names := make([]string, 0, len(files))
	folders := map[string]bool{}
	for name := range files {
		names = append(names, name)
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	for folder := range folders {
		names = append(names, folder)
	}
	slices.Sort(names)
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, name := range names {
		header := &tar.Header{Name: name, Mode: 0o755, Typeflag: tar.TypeDir, ModTime: time.Unix(0, 0)}
		var content []byte
		if path, ok := files[name]; ok {
			var err error
			if content, err = os.ReadFile(path); err != nil {
				return nil, fmt.Errorf("read a file of the image: %w", err)
			}
			header.Typeflag, header.Size = tar.TypeReg, int64(len(content))
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
		if _, err := writer.Write(content); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("pack the image: %w", err)
	}
	return out.Bytes(), nil
}

// writeArchive writes the image as an OCI archive, which keeps the digest as it is.
func (b builtImage) writeArchive(path string) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), "oci-")
	if err != nil {
		return fmt.Errorf("make a folder for the image: %w", err)
	}
	defer os.RemoveAll(dir)
	index, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("lay out image %s: %w", b.spec.reference, err)
	}
	annotations := map[string]string{
		"io.containerd.image.name":          b.spec.reference,
		"org.opencontainers.image.ref.name": b.spec.reference[strings.LastIndex(b.spec.reference, ":")+1:],
	}
	if err := index.AppendImage(b.image, layout.WithAnnotations(annotations)); err != nil {
		return fmt.Errorf("lay out image %s: %w", b.spec.reference, err)
	}
	files := map[string]string{}
	if err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, file)
		files[relative] = file
		return err
	}); err != nil {
		return fmt.Errorf("lay out image %s: %w", b.spec.reference, err)
	}
	content, err := packFiles(files)
	if err != nil {
		return err
	}
	return writeFile(path, content)
}
