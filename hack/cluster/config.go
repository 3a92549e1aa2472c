// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Names and addresses of the local cluster. They are fixed, so that any clone of the
// repository finds (and can take down) a cluster which another clone started.
const (
	clusterName  = "hookonce"
	nodeName     = "hookonce-local"
	bridgeName   = "hookonce0"
	bridgeMAC    = "0a:58:0a:f4:4d:01"
	gatewayIP    = "10.244.77.1"
	gatewayBits  = "24"
	podCIDR      = "10.244.77.0/24"
	serviceCIDR  = "10.96.0.0/16"
	apiServiceIP = "10.96.0.1"
	dnsServiceIP = "10.96.0.10"
	loopbackIP   = "127.0.0.1"
	nftTable     = "hookonce-cluster"
	pauseImage   = "docker.io/hookonce/pause:local"
)

// Ports lie below the NodePort range (30000) and the ephemeral range (32768), and away from
// the default ports of Kubernetes, so that nothing else on the machine is likely to hold them.
const (
	portAPIServer         = 26443
	portEtcdClient        = 26379
	portEtcdPeer          = 26380
	portControllerManager = 26257
	portScheduler         = 26259
	portKubelet           = 26250
	portKubeletHealth     = 26248
	portProxyHealth       = 26256
	portProxyMetrics      = 26249
	portDNS               = 26053
	portDNSHealth         = 26080
	portDNSReady          = 26081
)

// markerEnv is set in the environment of every process which the cluster starts. Its value is
// the state folder; it is how `down` finds processes whose pid file was lost.
const markerEnv = "HOOKONCE_CLUSTER_STATE"

// settings says where the sources, the cache and the state of the cluster are.
type settings struct {
	source string // hack/cluster
	cache  string // content-addressed binaries
	state  string // everything that the running cluster writes
}

func (s settings) path(elem ...string) string {
	return filepath.Join(append([]string{s.state}, elem...)...)
}

func (s settings) logs() string       { return s.path("logs") }
func (s settings) kubeconfig() string { return s.path("kubeconfig") }
func (s settings) images() string     { return s.path("images") }

// repository is the root of the clone, against which relative paths of the user are taken.
func (s settings) repository() string { return filepath.Dir(filepath.Dir(s.source)) }

func (s settings) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.repository(), path)
}

func loadSettings() (settings, error) {
	source, err := findSource()
	if err != nil {
		return settings{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return settings{}, fmt.Errorf("find the home directory: %w", err)
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(home, ".cache")
	}
	state := "/var/lib/hookonce-cluster"
	if os.Geteuid() != 0 {
		state = filepath.Join(home, ".local", "state", "hookonce-cluster")
	}
	return settings{source: source, cache: filepath.Join(cache, "hookonce", "bin"), state: state}, nil
}

var modulePattern = regexp.MustCompile(`(?m)^module github\.com/hookonce/hookonce/hack/cluster$`)

// findSource walks up from the working directory: `go run -C hack/cluster` starts in it, a
// built binary may be started from anywhere inside the repository.
func findSource() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	for {
		for _, candidate := range []string{dir, filepath.Join(dir, "hack", "cluster")} {
			mod, err := os.ReadFile(filepath.Join(candidate, "go.mod"))
			if err == nil && modulePattern.Match(mod) {
				return candidate, nil
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("hack/cluster not found: run this inside a clone of the repository")
		}
		dir = parent
	}
}

var kubernetesPattern = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v\d+\.\d+\.\S+)`)

// kubernetesVersion reads the one place where the version is pinned.
func kubernetesVersion(source string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(source, "components", "kubernetes", "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the version of Kubernetes: %w", err)
	}
	match := kubernetesPattern.FindSubmatch(mod)
	if match == nil {
		return "", errors.New("components/kubernetes/go.mod does not require k8s.io/kubernetes")
	}
	return string(match[1]), nil
}

// extendPath adds the folders of administration commands, which an unprivileged login lacks.
func extendPath() error {
	path := os.Getenv("PATH")
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if !strings.Contains(":"+path+":", ":"+dir+":") {
			path += ":" + dir
		}
	}
	if err := os.Setenv("PATH", path); err != nil {
		return fmt.Errorf("extend PATH: %w", err)
	}
	return nil
}
