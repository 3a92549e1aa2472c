// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// apiClient asks the API server as the administrator. It knows only what starting needs.
type apiClient struct {
	http *http.Client
	base string
}

func newAPIClient(s settings, kind nodeKind) (*apiClient, error) {
	authority, err := os.ReadFile(s.path("pki", "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the cluster's authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, errors.New("the cluster's authority is no certificate")
	}
	pair, err := tls.LoadX509KeyPair(s.path("pki", "admin.crt"), s.path("pki", "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("load the administrator's certificate: %w", err)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}
	return &apiClient{
		http: &http.Client{Transport: transport, Timeout: 5 * time.Second},
		base: localURL("https", kind.hostAddress(), portAPIServer),
	}, nil
}

func (c *apiClient) ready(ctx context.Context) error { return probe(ctx, c.http, c.base+"/readyz") }

// nodeReady is nil when the node reports Ready.
func (c *apiClient) nodeReady(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api/v1/nodes/"+nodeName, nil)
	if err != nil {
		return fmt.Errorf("ask for the node: %w", err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("ask for the node: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the node is not registered: %s", response.Status)
	}
	var node struct {
		Status struct {
			Conditions []struct {
				Type    string `json:"type"`
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"conditions"`
		} `json:"status"`
	}
	if err := json.NewDecoder(response.Body).Decode(&node); err != nil {
		return fmt.Errorf("parse the node: %w", err)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type != "Ready" {
			continue
		}
		if condition.Status == "True" {
			return nil
		}
		return fmt.Errorf("the node is not ready: %s", condition.Message)
	}
	return errors.New("the node has no Ready condition yet")
}

// podsAdmitted is nil when a pod can be created: it needs the default service account.
func (c *apiClient) podsAdmitted(ctx context.Context) error {
	return probe(ctx, c.http, c.base+"/api/v1/namespaces/default/serviceaccounts/default")
}
