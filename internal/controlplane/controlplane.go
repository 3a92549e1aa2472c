// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts a real API server for the tests of one package, with the project's kinds installed. There
// is no controller manager: nothing makes pods of Deployments, and nothing collects garbage.
package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// errNoAssets says how to get the binaries.
var errNoAssets = errors.New("KUBEBUILDER_ASSETS is not set: run make test, or first " +
	"export KUBEBUILDER_ASSETS=$(go run -C hack/cluster . envtest-bins)")

// Main runs the tests of a package between the start and the end of an API server, and returns the exit code for TestMain.
// use gets the configuration of an administrator's client before the tests run.
func Main(m *testing.M, use func(*rest.Config)) int {
	code, err := run(m, use)
	if err != nil {
		fmt.Fprintln(os.Stderr, "control plane for tests:", err)
		return 1
	}
	return code
}

func run(m *testing.M, use func(*rest.Config)) (code int, err error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return 0, errNoAssets
	}
	root, err := moduleRoot()
	if err != nil {
		return 0, err
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		// What has started by then, such as an API server that refuses a CRD, would run on.
		return 0, errors.Join(fmt.Errorf("start: %w", err), environment.Stop())
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	use(config)
	return m.Run(), nil
}

// moduleRoot returns the folder of go.mod above the package that is tested.
func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("find the module: no go.mod above the working directory")
		}
		folder = parent
	}
}

// Scheme returns a scheme with the built-in kinds and the project's.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s))
}

// Client returns a client without a cache.
func Client(t testing.TB, config *rest.Config) client.Client {
	t.Helper()
	s, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Namespace makes a namespace for one test and returns its name. It stays: without a controller manager a namespace cannot
// be deleted.
func Namespace(t testing.TB, c client.Client, labels map[string]string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: labels}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}
