// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// currentCluster is whatever the user's kubeconfig names: it is used and never changed.
type currentCluster struct {
	s     settings
	image string // IMAGE, where the user has pushed it
}

func (c currentCluster) up(ctx context.Context) error {
	kubectl, err := findKubectl(ctx, c.s)
	if err != nil {
		return err
	}
	version, err := run(ctx, kubectl, "version", "--request-timeout=10s")
	if err != nil {
		return fmt.Errorf("the current cluster does not answer: %w", err)
	}
	progress("using the current cluster: %s", strings.Join(strings.Fields(string(version)), " "))
	return nil
}

func (c currentCluster) down(context.Context) error {
	progress("the current cluster is yours: nothing to take down")
	return nil
}

func (c currentCluster) kubeconfig(context.Context) (string, error) {
	if path := os.Getenv("KUBECONFIG"); path != "" {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w", err)
	}
	return filepath.Join(home, ".kube", "config"), nil
}

func (c currentCluster) env(ctx context.Context) ([]variable, error) {
	path, err := c.kubeconfig(ctx)
	if err != nil {
		return nil, err
	}
	kubectl, err := findKubectl(ctx, c.s)
	if err != nil {
		return nil, err
	}
	return []variable{
		{"KUBECONFIG", path},
		{"NODE", "current"},
		{"HOST_ADDRESS", os.Getenv("HOST_ADDRESS")},
		{"LOGS", ""},
		{"KUBECTL", kubectl},
	}, nil
}

func (c currentCluster) loadImage(_ context.Context, spec imageSpec) (string, error) {
	if c.image == "" {
		return "", fmt.Errorf("CLUSTER=current has no way to load %s: push the image to a registry that the cluster "+
			"reads (docker build -t REGISTRY/NAME:TAG . && docker push REGISTRY/NAME:TAG), then set IMAGE=REGISTRY/NAME:TAG", spec.reference)
	}
	return c.image, nil
}

// kindCluster drives an installed kind.
type kindCluster struct{ s settings }

func (c kindCluster) path() string { return filepath.Join(c.s.cache, "kind", "kubeconfig") }

func (c kindCluster) up(ctx context.Context) error {
	if _, err := exec.LookPath("kind"); err != nil {
		return errors.New("CLUSTER=kind needs the kind command and Docker; without them use CLUSTER=local")
	}
	names, err := run(ctx, "kind", "get", "clusters")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path()), 0o755); err != nil {
		return fmt.Errorf("make the folder of the kubeconfig: %w", err)
	}
	if slices.Contains(strings.Fields(string(names)), clusterName) {
		if _, err := run(ctx, "kind", "export", "kubeconfig", "--name", clusterName, "--kubeconfig", c.path()); err != nil {
			return err
		}
		progress("the kind cluster is up")
		return nil
	}
	progress("creating kind cluster %s", clusterName)
	_, err = run(ctx, "kind", "create", "cluster", "--name", clusterName, "--kubeconfig", c.path(), "--wait", "180s")
	return err
}

func (c kindCluster) down(ctx context.Context) error {
	_, err := run(ctx, "kind", "delete", "cluster", "--name", clusterName, "--kubeconfig", c.path())
	return err
}

func (c kindCluster) kubeconfig(context.Context) (string, error) {
	if _, err := os.Stat(c.path()); err != nil {
		return "", fmt.Errorf("no kind cluster is up (start it with `make cluster CLUSTER=kind`): %w", err)
	}
	return c.path(), nil
}

func (c kindCluster) env(ctx context.Context) ([]variable, error) {
	path, err := c.kubeconfig(ctx)
	if err != nil {
		return nil, err
	}
	kubectl, err := findKubectl(ctx, c.s)
	if err != nil {
		return nil, err
	}
	gateways, err := run(ctx, "docker", "network", "inspect", "kind", "--format", "{{range .IPAM.Config}}{{.Gateway}} {{end}}")
	if err != nil {
		return nil, err
	}
	return []variable{
		{"KUBECONFIG", path},
		{"NODE", "kind"},
		{"HOST_ADDRESS", firstIPv4(strings.Fields(string(gateways)))},
		{"LOGS", ""},
		{"KUBECTL", kubectl},
	}, nil
}

func firstIPv4(addresses []string) string {
	for _, address := range addresses {
		if ip := net.ParseIP(address); ip != nil && ip.To4() != nil {
			return address
		}
	}
	return ""
}

func (c kindCluster) loadImage(ctx context.Context, spec imageSpec) (string, error) {
	built, err := buildImage(spec)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "hookonce-image-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the image: %w", err)
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(dir, "image.tar")
	if err := built.writeArchive(archive); err != nil {
		return "", err
	}
	if _, err := run(ctx, "kind", "load", "image-archive", archive, "--name", clusterName); err != nil {
		return "", err
	}
	return spec.reference, nil
}

// findKubectl prefers the user's own kubectl and builds one otherwise.
func findKubectl(ctx context.Context, s settings) (string, error) {
	if path, err := exec.LookPath("kubectl"); err == nil {
		return path, nil
	}
	components, err := selectComponents(s, []string{"kubectl"})
	if err != nil {
		return "", err
	}
	if err := buildAll(ctx, s, components); err != nil {
		return "", err
	}
	paths, err := s.binaries(components)
	return paths["kubectl"], err
}
