// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// component is a set of commands built together into one folder of the cache. Components have
// modules of their own because their requirements collide.
type component struct {
	name string
	dir  string // below hack/cluster
	// commands maps the name of each binary to its main package.
	commands map[string]string
	tags     string
	ldflags  string
	cgo      bool // only what cannot do without: static binaries need no C compiler
}

const (
	kubernetesCommands = "k8s.io/kubernetes/cmd/"
	containerdCommands = "github.com/containerd/containerd/v2/cmd/"
	cniPlugins         = "github.com/containernetworking/plugins/plugins/"
	fluxModules        = "github.com/fluxcd/"
)

// catalog lists every component, in the order of building: first what most others wait for.
func catalog(s settings) ([]component, error) {
	version, err := kubernetesVersion(s.source)
	if err != nil {
		return nil, err
	}
	kubernetes := func(name string, commands ...string) component {
		c := component{
			name: name, dir: "components/kubernetes", ldflags: kubernetesLdflags(version),
			commands: map[string]string{},
		}
		for _, command := range commands {
			c.commands[command] = kubernetesCommands + command
		}
		return c
	}
	return []component{
		kubernetes("kube-apiserver", "kube-apiserver"),
		{
			name: "etcd", dir: "components/etcd", ldflags: "-s -w",
			commands: map[string]string{"etcd": "go.etcd.io/etcd/server/v3"},
		},
		kubernetes("kubectl", "kubectl"),
		kubernetes("kube-control", "kube-controller-manager", "kube-scheduler"),
		kubernetes("kube-node", "kubelet", "kube-proxy"),
		{
			name: "containerd", dir: "components/containerd", ldflags: "-s -w",
			tags: "no_btrfs no_zfs no_devmapper no_aufs",
			commands: map[string]string{
				"containerd":              containerdCommands + "containerd",
				"containerd-shim-runc-v2": containerdCommands + "containerd-shim-runc-v2",
				"ctr":                     containerdCommands + "ctr",
			},
		},
		{
			name: "runc", dir: "components/runc", ldflags: "-s -w", tags: "seccomp", cgo: true,
			commands: map[string]string{"runc": "github.com/opencontainers/runc"},
		},
		{
			name: "cni", dir: "components/cni", ldflags: "-s -w",
			commands: map[string]string{
				"bridge":     cniPlugins + "main/bridge",
				"host-local": cniPlugins + "ipam/host-local",
			},
		},
		{name: "coredns", dir: "components/coredns", ldflags: "-s -w", commands: map[string]string{"coredns": "."}},
		{name: "pause", dir: "components/pause", ldflags: "-s -w", commands: map[string]string{"pause": "."}},
		flux("source-controller"),
		flux("kustomize-controller"),
		{name: "processnode", dir: "processnode", ldflags: "-s -w", commands: map[string]string{"processnode": "."}},
	}, nil
}

// flux is one of Flux's controllers, which the tests of GitOps run as processes of this host.
func flux(controller string) component {
	return component{
		name: controller, dir: "components/flux-" + strings.TrimSuffix(controller, "-controller"), ldflags: "-s -w",
		commands: map[string]string{controller: fluxModules + controller},
	}
}

func kubernetesLdflags(version string) string {
	const variable = "k8s.io/component-base/version"
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return fmt.Sprintf("-s -w -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s",
		variable, version, parts[0], parts[1])
}

// Sets of components by what is to be done with them.
var (
	envtestSet = []string{"etcd", "kube-apiserver", "kubectl"}
	controlSet = []string{"kube-apiserver", "etcd", "kubectl", "kube-control"}
	fluxSet    = []string{"source-controller", "kustomize-controller"}
)

func nodeSet(kind nodeKind) []string {
	if kind == nodeProcess {
		return append(append([]string{}, controlSet...), "processnode")
	}
	return append(append([]string{}, controlSet...), "kube-node", "containerd", "runc", "cni", "coredns", "pause")
}

// selectComponents returns the named components in the order of the catalog.
func selectComponents(s settings, names []string) ([]component, error) {
	all, err := catalog(s)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var selected []component
	for _, c := range all {
		if !wanted[c.name] {
			continue
		}
		if _, err := os.Stat(filepath.Join(s.source, c.dir, "go.mod")); err != nil {
			return nil, fmt.Errorf("component %s has no module in hack/cluster/%s: %w", c.name, c.dir, err)
		}
		selected = append(selected, c)
	}
	return selected, nil
}
