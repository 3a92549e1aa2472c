// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// fluxNamespace is where Flux's objects are; what they apply is in the shop.
	fluxNamespace = "hookonce-gitops"
	// readyLimit is how long a Kustomization, and all that is in it, may take to be healthy.
	readyLimit = 2 * time.Minute
)

// fluxObjects sync the repository and wait until everything in it is healthy. Somebody who edits the cluster is undone
// after ten seconds.
const fluxObjects = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shop, namespace: %[1]s}
spec: {interval: 5s, timeout: 20s, url: "%[2]s", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: %[1]s}
spec:
  sourceRef: {kind: GitRepository, name: shop}
  path: ./
  interval: 10s
  retryInterval: 5s
  timeout: %[3]s
  prune: true
  wait: true
`

// kubectl runs kubectl with an input and returns its output.
type kubectl func(ctx context.Context, stdin string, args ...string) (string, error)

// flux is Flux's source-controller and kustomize-controller as processes of this machine.
type flux struct {
	kubectl   kubectl
	bins      string
	processes []*process
}

// fluxBinaries builds the controllers and returns their folder.
func fluxBinaries(ctx context.Context, root string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "-C", "hack/cluster", ".", "flux-bins")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build Flux: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// install puts Flux's kinds and namespace into the cluster, without what a run that was killed left of them.
func (f *flux) install(ctx context.Context) error {
	if err := f.uninstall(ctx); err != nil {
		return err
	}
	if _, err := f.kubectl(ctx, "", "apply", "--server-side", "-f", filepath.Join(f.bins, "crds")); err != nil {
		return err
	}
	if _, err := f.kubectl(ctx, "", "wait", "--for=condition=Established", "--timeout=60s", "-f", filepath.Join(f.bins, "crds")); err != nil {
		return err
	}
	_, err := f.kubectl(ctx, "", "create", "namespace", fluxNamespace)
	return err
}

// start starts the controllers, with a folder for all that they write. They look at one namespace.
func (f *flux) start(kubeconfig, folder string) error {
	storage := filepath.Join(folder, "storage")
	if err := os.MkdirAll(storage, 0o755); err != nil {
		return fmt.Errorf("make the folder of Flux's artifacts: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	env := []string{"KUBECONFIG=" + kubeconfig, "RUNTIME_NAMESPACE=" + fluxNamespace, "TMPDIR=" + folder}
	quiet := []string{
		"--watch-all-namespaces=false", "--enable-leader-election=false", "--metrics-addr=0", "--health-addr=0", "--log-level=info",
	}
	for _, controller := range []struct {
		name string
		args []string
	}{
		{"source-controller", []string{"--storage-path=" + storage, "--storage-addr=" + address, "--storage-adv-addr=" + address}},
		{"kustomize-controller", nil},
	} {
		p, err := spawn(filepath.Join(f.bins, controller.name), folder, env, append(quiet, controller.args...))
		if err != nil {
			return err
		}
		f.processes = append(f.processes, p)
	}
	return nil
}

// sync lets Flux follow a repository.
func (f *flux) sync(ctx context.Context, url string) error {
	_, err := f.kubectl(ctx, fmt.Sprintf(fluxObjects, fluxNamespace, url, readyLimit), "apply", "-f", "-")
	return err
}

// kustomization returns what Flux says of the shop.
func (f *flux) kustomization(ctx context.Context) (*unstructured.Unstructured, error) {
	out, err := f.kubectl(ctx, "", "get", "kustomizations.kustomize.toolkit.fluxcd.io", "shop", "-n", fluxNamespace, "-o", "json")
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(out), object); err != nil {
		return nil, fmt.Errorf("read the Kustomization: %w", err)
	}
	return object, nil
}

// applied says whether Flux has applied a commit, and found everything in it healthy.
func (f *flux) applied(ctx context.Context, commit string) error {
	object, err := f.kustomization(ctx)
	if err != nil {
		return err
	}
	revision, _, err := unstructured.NestedString(object.Object, "status", "lastAppliedRevision")
	if err != nil {
		return fmt.Errorf("read the Kustomization's revision: %w", err)
	}
	status, message := condition(object, "Ready")
	if !strings.HasSuffix(revision, commit) || status != "True" {
		return fmt.Errorf("the Kustomization is at %q, Ready is %q: %s", revision, status, message)
	}
	return nil
}

// again has Flux apply the shop once more, and waits until it has.
func (f *flux) again(ctx context.Context, eventually func(func(context.Context) error) error) error {
	token := strconv.FormatInt(time.Now().UnixNano(), 10)
	_, err := f.kubectl(ctx, "", "annotate", "--overwrite", "-n", fluxNamespace, "kustomizations.kustomize.toolkit.fluxcd.io/shop",
		"reconcile.fluxcd.io/requestedAt="+token)
	if err != nil {
		return err
	}
	return eventually(func(ctx context.Context) error {
		object, err := f.kustomization(ctx)
		if err != nil {
			return err
		}
		handled, _, err := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
		if err == nil && handled != token {
			err = errors.New("Flux has not looked again")
		}
		return err
	})
}

// stop ends the controllers, and removes their objects and kinds; what they applied is pruned.
func (f *flux) stop(ctx context.Context) error {
	var problems []error
	if len(f.processes) > 0 {
		_, err := f.kubectl(ctx, "", "delete", "kustomizations.kustomize.toolkit.fluxcd.io", "--all", "-n", fluxNamespace,
			"--ignore-not-found", "--timeout=90s")
		problems = append(problems, err)
	}
	for _, p := range f.processes {
		p.stop()
	}
	return errors.Join(append(problems, f.uninstall(ctx))...)
}

// uninstall removes Flux's objects and kinds from the cluster, without the help of controllers.
func (f *flux) uninstall(ctx context.Context) error {
	for _, kind := range []string{"kustomizations.kustomize.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io"} {
		// An error means that there is none of the kind.
		_, _ = f.kubectl(ctx, "", "patch", kind, "shop", "-n", fluxNamespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	}
	for _, what := range [][]string{{"-f", filepath.Join(f.bins, "crds")}, {"namespace", fluxNamespace}} {
		if _, err := f.kubectl(ctx, "", append([]string{"delete", "--ignore-not-found", "--timeout=120s"}, what...)...); err != nil {
			return err
		}
	}
	return nil
}

// condition returns the status and message of a condition of an object, empty if there is none.
func condition(object *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		fields, isMap := c.(map[string]any)
		if isMap && fields["type"] == kind {
			return fmt.Sprint(fields["status"]), fmt.Sprint(fields["message"])
		}
	}
	return "", ""
}
