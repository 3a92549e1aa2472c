// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// localURL is the address of a component that listens on this host.
func localURL(scheme, host string, port int) string {
	return fmt.Sprintf("%s://%s:%d", scheme, host, port)
}

func (l *local) startEtcd(ctx context.Context) error {
	client := localURL("http", loopbackIP, portEtcdClient)
	peer := localURL("http", loopbackIP, portEtcdPeer)
	if err := l.start(process{name: "etcd", path: l.bin["etcd"], args: []string{
		"--name=" + clusterName, "--data-dir=" + l.path("etcd"), "--unsafe-no-fsync",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + clusterName + "=" + peer, "--log-level=warn",
		"--auto-compaction-mode=periodic", "--auto-compaction-retention=1h",
	}}); err != nil {
		return err
	}
	return l.waitFor(ctx, "etcd", func(ctx context.Context) error {
		return probe(ctx, &http.Client{Timeout: 5 * time.Second}, client+"/health")
	})
}

func (l *local) startAPIServer(ctx context.Context) error {
	host := l.kind.hostAddress()
	pki := func(name string) string { return l.path("pki", name) }
	args := []string{
		"--etcd-servers=" + localURL("http", loopbackIP, portEtcdClient),
		"--bind-address=" + host, fmt.Sprintf("--secure-port=%d", portAPIServer),
		"--advertise-address=" + gatewayIP,
		"--service-cluster-ip-range=" + serviceCIDR,
		"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"),
		"--client-ca-file=" + pki("ca.crt"),
		"--kubelet-client-certificate=" + pki("kubelet-client.crt"), "--kubelet-client-key=" + pki("kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + pki("service-accounts.key"),
		"--service-account-signing-key-file=" + pki("service-accounts.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true", "--profiling=false",
	}
	if l.kind == nodeProcess {
		// No pod could use the address: the `kubernetes` Service stays without endpoints.
		args = append(args, "--endpoint-reconciler-type=none")
	} else {
		args = append(args, "--endpoint-reconciler-type=lease", "--kubelet-certificate-authority="+pki("ca.crt"))
	}
	if err := l.start(process{name: "kube-apiserver", path: l.bin["kube-apiserver"], args: args}); err != nil {
		return err
	}
	return l.waitFor(ctx, "kube-apiserver", func(ctx context.Context) error {
		client, err := newAPIClient(l.settings, l.kind)
		if err != nil {
			return err
		}
		return client.ready(ctx)
	})
}

func (l *local) startControllers() error {
	common := func(name string, port int) []string {
		return []string{
			"--kubeconfig=" + l.path("conf", name+".kubeconfig"), "--leader-elect=false", "--profiling=false",
			"--bind-address=" + loopbackIP, fmt.Sprintf("--secure-port=%d", port),
			"--tls-cert-file=" + l.path("pki", name+".crt"), "--tls-private-key-file=" + l.path("pki", name+".key"),
		}
	}
	manager := append(common("controller-manager", portControllerManager),
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+l.path("pki", "service-accounts.key"),
		"--root-ca-file="+l.path("pki", "ca.crt"),
		"--flex-volume-plugin-dir="+l.path("volume-plugins"),
		"--cluster-signing-cert-file="+l.path("pki", "ca.crt"), "--cluster-signing-key-file="+l.path("pki", "ca.key"),
	)
	if err := l.start(process{
		name: "kube-controller-manager", path: l.bin["kube-controller-manager"], args: manager,
	}); err != nil {
		return err
	}
	return l.start(process{
		name: "kube-scheduler", path: l.bin["kube-scheduler"], args: common("scheduler", portScheduler),
	})
}
