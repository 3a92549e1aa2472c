// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Check asks once. No error means that the answer was good.
type Check func(ctx context.Context) error

// client makes a connection for each request, as the kubelet does, and trusts any certificate:
// probes go to a pod by its address.
var client = &http.Client{
	Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as the kubelet's probes
		Proxy:             nil,
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// New prepares the check of a probe for a container at the address. Only httpGet and tcpSocket
// are supported: there is no container into which a command could be sent.
func New(handler corev1.ProbeHandler, address string, ports []corev1.ContainerPort) (Check, error) {
	switch {
	case handler.HTTPGet != nil:
		return NewHTTPGet(handler.HTTPGet, address, ports)
	case handler.TCPSocket != nil:
		port, err := number(handler.TCPSocket.Port, ports)
		if err != nil {
			return nil, err
		}
		target := net.JoinHostPort(host(handler.TCPSocket.Host, address), port)
		return func(ctx context.Context) error { return dial(ctx, target) }, nil
	default:
		return nil, errors.New("only httpGet and tcpSocket probes are supported")
	}
}

// NewHTTPGet prepares a GET. An answer from 200 to 399 is good.
func NewHTTPGet(action *corev1.HTTPGetAction, address string, ports []corev1.ContainerPort) (Check, error) {
	port, err := number(action.Port, ports)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(action.Path)
	if err != nil {
		return nil, fmt.Errorf("parse the path: %w", err)
	}
	target.Scheme = "http"
	if action.Scheme == corev1.URISchemeHTTPS {
		target.Scheme = "https"
	}
	target.Host = net.JoinHostPort(host(action.Host, address), port)
	return func(ctx context.Context) error { return get(ctx, target.String(), action.HTTPHeaders) }, nil
}

// Timeout is how long a probe may take.
func Timeout(spec *corev1.Probe) time.Duration {
	return time.Duration(max(1, spec.TimeoutSeconds)) * time.Second
}

// Period is the time between two questions.
func Period(spec *corev1.Probe) time.Duration {
	return time.Duration(max(1, spec.PeriodSeconds)) * time.Second
}

func host(own, address string) string {
	if own != "" {
		return own
	}
	return address
}

func number(port intstr.IntOrString, ports []corev1.ContainerPort) (string, error) {
	if port.Type == intstr.Int {
		return strconv.Itoa(port.IntValue()), nil
	}
	for _, named := range ports {
		if named.Name == port.StrVal {
			return strconv.Itoa(int(named.ContainerPort)), nil
		}
	}
	if _, err := strconv.Atoi(port.StrVal); err == nil {
		return port.StrVal, nil
	}
	return "", fmt.Errorf("the container has no port named %q", port.StrVal)
}

func dial(ctx context.Context, target string) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", target)
	if err != nil {
		return err
	}
	return connection.Close()
}

func get(ctx context.Context, target string, headers []corev1.HTTPHeader) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "kube-probe/processnode")
	for _, header := range headers {
		if http.CanonicalHeaderKey(header.Name) == "Host" {
			request.Host = header.Value
			continue
		}
		request.Header.Add(header.Name, header.Value)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("GET %s answered %d", target, response.StatusCode)
	}
	return nil
}
