// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"embed"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed templates
var templateFiles embed.FS

// values is what the templates of configuration files can name.
type values struct {
	State, Node, Bridge, Gateway, PodCIDR, DNS string

	KubeletPort, KubeletHealthPort, ProxyHealthPort, ProxyMetricsPort int
	DNSPort, DNSHealthPort, DNSReadyPort                              int

	Snapshotter, PauseImage, CNIBinaries, Runc string
	Upstreams                                  []string
}

func newValues(state string) values {
	return values{
		State: state, Node: nodeName, Bridge: bridgeName, Gateway: gatewayIP, PodCIDR: podCIDR, DNS: dnsServiceIP,
		KubeletPort: portKubelet, KubeletHealthPort: portKubeletHealth,
		ProxyHealthPort: portProxyHealth, ProxyMetricsPort: portProxyMetrics,
		DNSPort: portDNS, DNSHealthPort: portDNSHealth, DNSReadyPort: portDNSReady,
		PauseImage: pauseImage,
	}
}

// render fills in the template of that name.
func render(name string, data any) ([]byte, error) {
	text, err := templateFiles.ReadFile("templates/" + name)
	if err != nil {
		return nil, fmt.Errorf("read template %s: %w", name, err)
	}
	parsed, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("parse template %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// renderFile writes the rendered template to path, readable by the owner alone.
func renderFile(path, name string, data any) error {
	content, err := render(name, data)
	if err != nil {
		return err
	}
	return writeFile(path, content)
}

func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// upstreamServers are the name servers of a resolv.conf which are reachable from elsewhere
// than the host's loopback; at most three, as the resolver itself has it.
func upstreamServers(resolvConf string) []string {
	var servers []string
	for line := range strings.Lines(resolvConf) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		ip := net.ParseIP(fields[1])
		if ip == nil || ip.IsLoopback() || ip.IsUnspecified() || len(servers) == 3 {
			continue
		}
		servers = append(servers, ip.String())
	}
	return servers
}
