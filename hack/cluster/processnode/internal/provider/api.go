// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	"k8s.io/client-go/util/cert"
)

// operators is the group that may read logs from the node: the API server's own certificate for
// calls to nodes is in it.
const operators = "system:masters"

// LogServer answers the API server's requests for logs.
type LogServer struct {
	port   int
	server *http.Server
}

// ServeLogs listens on the address (port 0: any). A caller needs a certificate of the group
// system:masters that the cluster's CA has signed. The node's own certificate is self-signed.
func (p *Provider) ServeLogs(host, port string, clusterCA []byte) (*LogServer, error) {
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM(clusterCA) {
		return nil, errors.New("the kubeconfig has no CA certificate to check callers with")
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.ParseIP(host)}, nil)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("use the certificate: %w", err)
	}
	address, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("parse the address for logs: %w", err)
	}
	listener, err := net.ListenTCP("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for requests for logs: %w", err)
	}
	handler := onlyOperators(api.PodHandler(api.PodHandlerConfig{
		GetContainerLogs: p.GetContainerLogs, GetPods: p.GetPods, GetPodsFromKubernetes: p.GetPods,
	}, true))
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
	}}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	bound, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("read the address for logs: %w", err)
	}
	return &LogServer{port: int(bound.Port()), server: server}, nil
}

func onlyOperators(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		groups := r.TLS.PeerCertificates[0].Subject.Organization
		if !slices.Contains(groups, operators) {
			http.Error(w, "only for the group "+operators, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Port is the port on which the server listens.
func (s *LogServer) Port() int { return s.port }

// Close ends the server and the requests that are under way.
func (s *LogServer) Close() error { return s.server.Close() }
