// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// cluster is the cluster that the story plays on, and how to reach it.
type cluster struct {
	kubectl    string
	kubeconfig string
	// node is containerd or process for the local cluster, otherwise the name of the cluster's kind.
	node string
	// host is an address of this machine that pods reach.
	host string
}

// startCluster brings the cluster up.
func (w *World) startCluster(ctx context.Context) error {
	if _, err := w.clusterTool(ctx, "up"); err != nil {
		return err
	}
	return w.findCluster(ctx)
}

// findCluster finds out how to reach the cluster.
func (w *World) findCluster(ctx context.Context) error {
	out, err := w.clusterTool(ctx, "env")
	if err != nil {
		return err
	}
	values := map[string]string{}
	for line := range strings.Lines(out) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
			values[key] = strings.Trim(value, `"'`)
		}
	}
	w.cluster = cluster{
		kubectl:    values["KUBECTL"],
		kubeconfig: values["KUBECONFIG"],
		node:       values["NODE"],
		host:       values["HOST_ADDRESS"],
	}
	if w.cluster.kubectl == "" || w.cluster.kubeconfig == "" || w.cluster.host == "" {
		return fmt.Errorf("the cluster tool does not say how to reach the cluster: %q", out)
	}
	return nil
}

func (w *World) clusterTool(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"run", "-C", "hack/cluster", "."}, args...)
	return command{name: "go", args: args, progress: w.Out}.run(ctx, w.Root)
}

// KubectlPath is the kubectl that goes with the cluster.
func (w *World) KubectlPath() string { return w.cluster.kubectl }

// Kubectl runs kubectl against the story's cluster and returns its output.
func (w *World) Kubectl(ctx context.Context, args ...string) (string, error) {
	return w.kubectlWith(ctx, "", args...)
}

func (w *World) kubectlWith(ctx context.Context, stdin string, args ...string) (string, error) {
	return command{
		name: w.cluster.kubectl, args: args, stdin: stdin, env: []string{"KUBECONFIG=" + w.cluster.kubeconfig},
	}.run(ctx, w.Root)
}

// typed are arguments as one types them at a shell.
func typed(args []string) string {
	out := make([]string, len(args))
	for i, arg := range args {
		if strings.ContainsAny(arg, " {}\"$*;&|<>()") {
			arg = "'" + arg + "'"
		}
		out[i] = arg
	}
	return strings.Join(out, " ")
}

// show runs kubectl and prints the command and its output, as somebody at a terminal would see them.
func (w *World) show(ctx context.Context, args ...string) error {
	out, err := w.Kubectl(ctx, args...)
	if err != nil {
		return err
	}
	w.Say("$ kubectl %s", typed(args))
	for line := range strings.Lines(out) {
		w.Say("  %s", strings.TrimRight(line, "\n"))
	}
	return nil
}

// get decodes an object of the cluster.
func (w *World) get(ctx context.Context, into any, args ...string) error {
	out, err := w.Kubectl(ctx, append(append([]string{"get"}, args...), "-o", "json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		return fmt.Errorf("decode %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
