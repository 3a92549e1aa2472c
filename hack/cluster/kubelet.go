// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func (l *local) startKubelet() error {
	config := l.path("conf", "kubelet.yaml")
	if err := renderFile(config, "kubelet.yaml", newValues(l.state)); err != nil {
		return err
	}
	// Without search domains of the host: names mean the same on every machine.
	if err := os.WriteFile(l.path("conf", "resolv.conf"), []byte("nameserver "+dnsServiceIP+"\n"), 0o644); err != nil {
		return fmt.Errorf("write the resolver configuration of pods: %w", err)
	}
	return l.start(process{name: "kubelet", path: l.bin["kubelet"], args: []string{
		"--config=" + config, "--kubeconfig=" + l.path("conf", "kubelet.kubeconfig"),
		"--hostname-override=" + nodeName, "--node-ip=" + gatewayIP,
		"--root-dir=" + l.path("kubelet"), "--cert-dir=" + l.path("kubelet", "pki"),
	}})
}

func (l *local) startProxy() error {
	config := l.path("conf", "kube-proxy.yaml")
	if err := renderFile(config, "kube-proxy.yaml", newValues(l.state)); err != nil {
		return err
	}
	return l.start(process{name: "kube-proxy", path: l.bin["kube-proxy"], args: []string{"--config=" + config}})
}

// startDNS runs CoreDNS on the host, behind the Service which pods ask.
func (l *local) startDNS(ctx context.Context) error {
	v := newValues(l.state)
	resolvConf, err := os.ReadFile("/etc/resolv.conf")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the host's name servers: %w", err)
	}
	v.Upstreams = upstreamServers(string(resolvConf))
	config := l.path("conf", "Corefile")
	if err := renderFile(config, "Corefile", v); err != nil {
		return err
	}
	addons, err := render("addons.yaml", v)
	if err != nil {
		return err
	}
	if _, err := runWithInput(ctx, addons, l.bin["kubectl"], "--kubeconfig", l.kubeconfig(),
		"apply", "--server-side", "--filename", "-"); err != nil {
		return err
	}
	return l.start(process{name: "coredns", path: l.bin["coredns"], args: []string{"-conf", config}})
}

// waitForDNS asks as a pod would: by the address of the Service.
func (l *local) waitForDNS(ctx context.Context) error {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, network, net.JoinHostPort(dnsServiceIP, "53"))
	}}
	return l.waitFor(ctx, "coredns", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		addresses, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
		if err != nil {
			return fmt.Errorf("ask cluster DNS: %w", err)
		}
		if len(addresses) != 1 || addresses[0] != apiServiceIP {
			return fmt.Errorf("cluster DNS answers %v, want %s", addresses, apiServiceIP)
		}
		return nil
	})
}

// probe is nil when url answers 200.
func probe(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
