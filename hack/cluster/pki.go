// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// certificateLife bounds a cluster which is made anew at every start after `down`.
const certificateLife = 2 * 365 * 24 * time.Hour

// authority signs the certificates of one cluster.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	folder      string
	now         time.Time
}

// identity is whom a certificate names: a user and groups for clients, addresses for servers.
type identity struct {
	user   string
	groups []string
	names  []string
	ips    []string
}

func newAuthority(folder string, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate the key of the authority: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hookonce-cluster"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:     true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read back the authority: %w", err)
	}
	a := &authority{certificate: certificate, key: key, folder: folder, now: now}
	return a, a.write("ca", der, key)
}

// issue writes NAME.crt and NAME.key for who, valid for clients and servers.
func (a *authority) issue(name string, who identity) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate the key of %s: %w", name, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fmt.Errorf("draw a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: who.user, Organization: who.groups},
		NotBefore: a.now.Add(-time.Hour), NotAfter: a.now.Add(certificateLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:    who.names,
	}
	for _, ip := range who.ips {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("sign %s: %w", name, err)
	}
	return a.write(name, der, key)
}

func (a *authority) write(name string, der []byte, key *ecdsa.PrivateKey) error {
	if err := writeFile(a.folder+"/"+name+".crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})); err != nil {
		return err
	}
	return writeKey(a.folder+"/"+name+".key", key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writeFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// writePKI makes the certificates of a fresh cluster and the kubeconfigs that hold them.
func writePKI(s settings, kind nodeKind, now time.Time) error {
	a, err := newAuthority(s.path("pki"), now)
	if err != nil {
		return err
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate the key of service accounts: %w", err)
	}
	if err := writeKey(s.path("pki", "service-accounts.key"), signer); err != nil {
		return err
	}
	for name, who := range identities(kind) {
		if err := a.issue(name, who); err != nil {
			return err
		}
	}
	for name, path := range map[string]string{
		"admin":              s.kubeconfig(),
		"controller-manager": s.path("conf", "controller-manager.kubeconfig"),
		"scheduler":          s.path("conf", "scheduler.kubeconfig"),
		"kubelet":            s.path("conf", "kubelet.kubeconfig"),
		"kube-proxy":         s.path("conf", "kube-proxy.kubeconfig"),
		"coredns":            s.path("conf", "coredns.kubeconfig"),
	} {
		if err := writeKubeconfig(s, kind, name, path); err != nil {
			return err
		}
	}
	return nil
}

func identities(kind nodeKind) map[string]identity {
	node := identity{
		user: "system:node:" + nodeName, groups: []string{"system:nodes"},
		names: []string{nodeName}, ips: []string{kind.hostAddress(), loopbackIP},
	}
	if kind == nodeProcess {
		// The stand-in node watches Secrets and ConfigMaps of all namespaces, which a
		// kubelet's own rights do not allow.
		node.user, node.groups = "hookonce:process-node", []string{"system:masters"}
	}
	return map[string]identity{
		"apiserver": {user: "kube-apiserver", names: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		}, ips: []string{loopbackIP, apiServiceIP, gatewayIP}},
		"kubelet-client":     {user: "kube-apiserver-kubelet-client", groups: []string{"system:masters"}},
		"admin":              {user: "admin", groups: []string{"system:masters"}},
		"controller-manager": {user: "system:kube-controller-manager"},
		"scheduler":          {user: "system:kube-scheduler"},
		"kubelet":            node,
		"kube-proxy":         {user: "system:kube-proxy"},
		"coredns":            {user: "system:coredns"},
	}
}

// writeKubeconfig embeds the certificates, so that the file can be copied anywhere on the host.
func writeKubeconfig(s settings, kind nodeKind, name, path string) error {
	encoded := map[string]string{}
	for key, file := range map[string]string{"CA": "ca.crt", "Certificate": name + ".crt", "Key": name + ".key"} {
		content, err := os.ReadFile(s.path("pki", file))
		if err != nil {
			return fmt.Errorf("read a certificate: %w", err)
		}
		encoded[key] = base64.StdEncoding.EncodeToString(content)
	}
	encoded["User"] = name
	encoded["Server"] = fmt.Sprintf("https://%s:%d", kind.hostAddress(), portAPIServer)
	return renderFile(path, "kubeconfig.yaml", encoded)
}
