// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

// Package integration runs the node's binary against a real API server. It needs envtest's
// binaries in KUBEBUILDER_ASSETS.
package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// The parts that all tests share; each test has a namespace and a node of its own.
var (
	client     *kubernetes.Clientset
	kubeconfig string
	nodeBinary string
	imagesDir  string
)

const testImage = "example.com/test/app:1"

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "processnode")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	nodeBinary = filepath.Join(dir, "processnode")
	imagesDir = filepath.Join(dir, "images")
	app := filepath.Join(imagesDir, "example.com%2Ftest%2Fapp:1", "rootfs", "app")
	for output, source := range map[string]string{nodeBinary: "..", app: "../testdata/app"} {
		if out, err := exec.Command("go", "build", "-o", output, source).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("build %s: %w\n%s", source, err, out)
		}
	}
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		return 0, fmt.Errorf("start the API server: %w", err)
	}
	defer func() {
		if stopErr := env.Stop(); stopErr != nil && err == nil {
			err = fmt.Errorf("stop the API server: %w", stopErr)
		}
	}()
	user, err := env.AddUser(envtest.User{Name: "node-admin", Groups: []string{"system:masters"}}, config)
	if err != nil {
		return 0, err
	}
	content, err := user.KubeConfig()
	if err != nil {
		return 0, err
	}
	kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		return 0, err
	}
	if client, err = kubernetes.NewForConfig(config); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// testNode is a running node.
type testNode struct {
	name    string
	state   string
	logs    string
	command *exec.Cmd
	ended   chan error
}

// startNode starts the binary and stops it at the end of the test.
func startNode(t *testing.T, name, delay string) *testNode {
	t.Helper()
	n := &testNode{name: name, state: filepath.Join(t.TempDir(), "state"), logs: t.TempDir()}
	n.start(t, delay)
	return n
}

func (n *testNode) start(t *testing.T, delay string) {
	t.Helper()
	n.command = exec.Command(nodeBinary, "--kubeconfig="+kubeconfig, "--node-name="+n.name,
		"--images-dir="+imagesDir, "--state-dir="+n.state, "--log-dir="+n.logs, "--secret-delay="+delay, "--shutdown-grace=3s")
	log, err := os.Create(filepath.Join(t.TempDir(), "node.log"))
	if err != nil {
		t.Fatal(err)
	}
	n.command.Stderr = log
	if err := n.command.Start(); err != nil {
		t.Fatal(err)
	}
	command, ended := n.command, make(chan error, 1)
	n.ended = ended
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			t.Logf("node %s ended: %v", n.name, err)
		case <-time.After(20 * time.Second):
			_ = command.Process.Kill()
			t.Error("the node does not end")
		}
		if t.Failed() {
			content, _ := os.ReadFile(log.Name())
			t.Logf("log of node %s:\n%s", n.name, content)
		}
	})
}

// stop ends the node by the signal and waits for it.
func (n *testNode) stop(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := n.command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-n.ended:
		n.ended <- err
		if err != nil && signal == syscall.SIGTERM {
			t.Errorf("the node ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the node does not end")
	}
}

func (n *testNode) log(t *testing.T, namespace, pod, container string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(n.logs, namespace+"_"+pod+"_"+container+".log"))
	if err != nil {
		return err.Error()
	}
	return string(content)
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
