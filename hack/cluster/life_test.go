// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLife takes this machine's cluster through its whole life, so it ends a cluster that is
// up. As root: go test -C hack/cluster -tags cluster -run TestLife -timeout 30m -v .
func TestLife(t *testing.T) {
	s, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	bin := buildPrograms(t)
	tool := program{path: bin + "/cluster", dir: s.source}
	tool.run(t, "down")
	before := traces(t, s)
	t.Cleanup(func() { tool.run(t, "down") })

	tool.run(t, "up")
	if took := tool.run(t, "up"); took > 10*time.Second {
		t.Errorf("up of a running cluster took %s", took)
	}
	t.Run("workload", func(t *testing.T) { exerciseWorkload(t, s, tool, bin) })
	t.Run("killed", func(t *testing.T) {
		killEverything(t, s)
		clone := program{path: tool.path, dir: copySources(t, s)}
		if took := clone.run(t, "up"); took > time.Minute {
			t.Errorf("up after a kill took %s", took)
		}
		exerciseWorkload(t, s, clone, bin)
	})
	tool.run(t, "down")
	after := traces(t, s)
	for kind, want := range before {
		if got := after[kind]; got != want {
			t.Errorf("%s differ.\nbefore:\n%s\nafter:\n%s", kind, want, got)
		}
	}
}

// program is the built tool, run in a clone of the repository.
type program struct{ path, dir string }

func (p program) run(t *testing.T, args ...string) time.Duration {
	t.Helper()
	started := time.Now()
	cmd := exec.Command(p.path, args...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	took := time.Since(started)
	t.Logf("%v took %s", args, took.Round(time.Millisecond))
	return took
}

func buildPrograms(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for name, pkg := range map[string]string{"cluster": ".", "probe": "./internal/probe"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(bin, name), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return bin
}

func copySources(t *testing.T, s settings) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "hack", "cluster")
	if err := os.CopyFS(clone, os.DirFS(s.source)); err != nil {
		t.Fatal(err)
	}
	return clone
}

// traces describes what a cluster could leave on the host.
func traces(t *testing.T, s settings) map[string]string {
	t.Helper()
	found := map[string]string{"processes": fmt.Sprint(markedProcesses(s.state))}
	for name, script := range map[string]string{
		"links":     "ip -brief link | cut -d' ' -f1",
		"addresses": "ip -brief address",
		"routes":    "ip route",
		"mounts":    "cat /proc/mounts",
		"rules":     "nft list ruleset",
		"cgroups":   "find /sys/fs/cgroup -name " + containerNamespace,
		"sysctls":   "cd /proc/sys && grep -s . " + strings.Join(touchedSysctls, " "),
		"folders":   "ls -d /run/* /var/lib/* /opt/* /var/log/containers /usr/libexec/kubernetes /etc/cni 2>/dev/null || true",
		"state":     "ls " + s.state,
	} {
		cmd := exec.Command("sh", "-c", script)
		out, err := cmd.Output()
		if err != nil && name != "sysctls" {
			t.Fatalf("list %s: %v", name, err)
		}
		found[name] = string(out)
	}
	return found
}

// killEverything does what the sudden end of a session does: no process gets to clean up.
func killEverything(t *testing.T, s settings) {
	t.Helper()
	pids := pidsInside(containerCgroups(s))
	for _, record := range markedProcesses(s.state) {
		pids = append(pids, record.PID)
	}
	if len(pids) < 10 {
		t.Fatalf("only %d processes of the cluster found", len(pids))
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	eventually(t, 10*time.Second, func() error {
		if left := markedProcesses(s.state); len(left) > 0 {
			return fmt.Errorf("still running: %v", left)
		}
		return nil
	})
}

// kubectl runs it against the cluster and returns what it prints.
func kubectl(t *testing.T, s settings, args ...string) string {
	t.Helper()
	state, err := s.readState()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(state.Components["kubectl"]+"/kubectl", append([]string{"--kubeconfig", s.kubeconfig()}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl %v: %v\n%s%s", args, err, out, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func exerciseWorkload(t *testing.T, s settings, tool program, bin string) {
	tool.run(t, "load-image", "--tag", "hookonce/probe:test", "--binary", filepath.Join(bin, "probe"))
	kubectl(t, s, "apply", "--filename", filepath.Join(s.source, "testdata", "workload.yaml"))
	kubectl(t, s, "--namespace", "probe", "rollout", "status", "deployment/probe", "--timeout=120s")
	pod := kubectl(t, s, "--namespace", "probe", "get", "pods", "--selector", "app=probe", "--output", "jsonpath={.items[0].status.podIP}")
	service := kubectl(t, s, "--namespace", "probe", "get", "service", "probe", "--output", "jsonpath={.spec.clusterIP}")
	host := serveOnHost(t)

	for name, check := range map[string]struct{ from, path, query, want string }{
		"Service from the host":        {"http://" + service, "/name", "", "probe-"},
		"Service by short name":        {"http://" + pod + ":8080", "/get", "url=http://probe/name", "probe-"},
		"Service by full name":         {"http://" + pod + ":8080", "/get", "url=http://probe.probe.svc.cluster.local/name", "probe-"},
		"name of a Service":            {"http://" + pod + ":8080", "/resolve", "name=probe.probe", service},
		"API server with token":        {"http://" + pod + ":8080", "/pods", "", `"kind":"PodList"`},
		"host from a pod":              {"http://" + pod + ":8080", "/get", "url=" + host, "the host"},
		"mounted Secret":               {"http://" + pod + ":8080", "/file", "path=/secret/value", "first"},
		"resolver with search domains": {"http://" + pod + ":8080", "/file", "path=/etc/resolv.conf", "probe.svc.cluster.local"},
	} {
		t.Run(name, func(t *testing.T) {
			eventually(t, 20*time.Second, func() error { return expect(check.from+check.path, check.query, check.want) })
		})
	}
	if err := expect("http://"+pod+":8080/write", "path=/x", "written"); err == nil {
		t.Error("the read-only root was written to")
	}
	if logs := kubectl(t, s, "--namespace", "probe", "logs", "deployment/probe"); !strings.Contains(logs, "probe serves") {
		t.Errorf("logs: %q", logs)
	}
	kubectl(t, s, "--namespace", "probe", "create", "job", "once", "--from=cronjob/probe")
	kubectl(t, s, "--namespace", "probe", "wait", "--for=condition=complete", "job/once", "--timeout=60s")
	started := time.Now()
	kubectl(t, s, "--namespace", "probe", "patch", "secret", "probe", "--patch", `{"stringData":{"value":"second"}}`)
	eventually(t, 120*time.Second, func() error { return expect("http://"+pod+":8080/file", "path=/secret/value", "second") })
	t.Logf("the mounted Secret followed after %s", time.Since(started).Round(time.Second))
}

func serveOnHost(t *testing.T) string {
	t.Helper()
	server := &http.Server{Addr: gatewayIP + ":26990", ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the host") })}
	go func() { _ = server.ListenAndServe() }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + server.Addr
}

// expect is nil when the answer to address holds want. query is NAME=VALUE.
func expect(address, query, want string) error {
	if name, value, found := strings.Cut(query, "="); found {
		address += "?" + url.Values{name: {value}}.Encode()
	}
	client := &http.Client{Timeout: 15 * time.Second}
	response, err := client.Get(address)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
		return fmt.Errorf("%s answers %s %q, want %q", address, response.Status, body, want)
	}
	return nil
}

func eventually(t *testing.T, limit time.Duration, check func() error) {
	t.Helper()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(limit)
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("not within %s: %v", limit, err)
		case <-ticker.C:
		}
	}
}
