// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func testServer(t *testing.T) (host string, port int) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/redirect":
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		case r.URL.Path == "/healthz" && r.Host == "pod.example" && r.Header.Get("X-Probe") == "yes" && r.URL.Query().Get("a") == "b":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	parsed, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err = strconv.Atoi(parsed.Port())
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Hostname(), port
}

func TestChecks(t *testing.T) {
	address, port := testServer(t)
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().(*net.TCPAddr).Port
	listener.Close()

	ports := []corev1.ContainerPort{{Name: "private", ContainerPort: int32(port)}}
	headers := []corev1.HTTPHeader{{Name: "host", Value: "pod.example"}, {Name: "X-Probe", Value: "yes"}}
	get := func(path string, port intstr.IntOrString) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: port, HTTPHeaders: headers}}
	}
	tests := map[string]struct {
		handler corev1.ProbeHandler
		want    string
	}{
		"good":                 {get("/healthz?a=b", intstr.FromString("private")), ""},
		"a redirect is good":   {get("/redirect", intstr.FromInt(port)), ""},
		"bad":                  {get("/other", intstr.FromInt(port)), "answered 503"},
		"nobody listens":       {get("/healthz", intstr.FromInt(closed)), "connection refused"},
		"TCP":                  {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(port)}}, ""},
		"TCP, nobody listens":  {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(closed)}}, "connection refused"},
		"no port of this name": {get("/healthz", intstr.FromString("public")), `no port named "public"`},
		"exec":                 {corev1.ProbeHandler{Exec: &corev1.ExecAction{}}, "only httpGet and tcpSocket"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			check, err := New(test.handler, address, ports)
			if err == nil {
				err = check(t.Context())
			}
			if test.want == "" && err != nil {
				t.Errorf("error: %v", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error is %v, want %q in it", err, test.want)
			}
		})
	}
}
