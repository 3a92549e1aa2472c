// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Server is where a kubeconfig points.
type Server struct {
	URL        string
	CA         []byte
	ServerName string
	Insecure   bool
}

// ServerOf takes the server, and how to trust it, out of the node's own configuration.
func ServerOf(config *rest.Config) (Server, error) {
	ca := config.CAData
	if len(ca) == 0 && config.CAFile != "" {
		content, err := os.ReadFile(config.CAFile)
		if err != nil {
			return Server{}, fmt.Errorf("read the cluster's CA: %w", err)
		}
		ca = content
	}
	return Server{URL: config.Host, CA: ca, ServerName: config.ServerName, Insecure: config.Insecure}, nil
}

// WriteAccount writes into the folder what a pod needs to call the API server as its service
// account: "token" and a "kubeconfig" that refers to it. Clients read the token file again from
// time to time, so that a renewed token reaches them. It returns the kubeconfig's path.
func (h *Holder) WriteAccount(ctx context.Context, dir string, server Server) (string, error) {
	token, err := h.Token(ctx, "", accountSeconds)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the service account: %w", err)
	}
	tokenFile := filepath.Join(dir, "token")
	if err := replace(tokenFile, []byte(token)); err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{
		Server: server.URL, CertificateAuthorityData: server.CA,
		TLSServerName: server.ServerName, InsecureSkipTLSVerify: server.Insecure,
	}
	config.AuthInfos["pod"] = &clientcmdapi.AuthInfo{TokenFile: tokenFile}
	config.Contexts["pod"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "pod", Namespace: h.pod.Namespace}
	config.CurrentContext = "pod"
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("write a kubeconfig: %w", err)
	}
	path := filepath.Join(dir, "kubeconfig")
	return path, replace(path, content)
}

// replace never shows a file that is half written.
func replace(path string, content []byte) error {
	next := path + ".next"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", next, err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}
