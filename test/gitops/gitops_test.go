// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/test/story"
)

// What all steps share: setting it up takes a minute.
var (
	world  *story.World
	syncer *flux
	repo   *repository
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	code, err := 1, setUp(ctx)
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, "set up:", err)
	}
	if code != 0 {
		diagnose(ctx)
	}
	if err := takeDown(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "clean up:", err)
		return 1
	}
	return code
}

// setUp brings up the story's world, and Flux beside it.
func setUp(ctx context.Context) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return fmt.Errorf("find the checkout: %w", err)
	}
	world = story.New(root, os.Stdout)
	bins, err := fluxBinaries(ctx, root)
	if err != nil {
		return err
	}
	if err := world.Start(ctx); err != nil {
		return err
	}
	if world.Node() != "containerd" && world.Node() != "process" {
		return fmt.Errorf("this is the cluster of somebody else (%s), who may have a Flux in it: use CLUSTER=local", world.Node())
	}
	kubeconfig, err := clusterKubeconfig(ctx, root)
	if err != nil {
		return err
	}
	syncer = &flux{bins: bins, kubectl: kubectlOf(world.KubectlPath(), kubeconfig)}
	if err := syncer.install(ctx); err != nil {
		return err
	}
	folder := filepath.Join(world.State, "flux")
	if err := os.RemoveAll(filepath.Join(world.State, "git")); err != nil {
		return fmt.Errorf("remove the repository of an earlier run: %w", err)
	}
	if err := syncer.start(kubeconfig, folder); err != nil {
		return err
	}
	repo, err = newRepository(ctx, filepath.Join(world.State, "git"))
	return err
}

// takeDown ends and removes all that setUp started, except the cluster.
func takeDown(ctx context.Context) error {
	var problems []error
	if repo != nil {
		problems = append(problems, repo.close())
	}
	if syncer != nil {
		problems = append(problems, syncer.stop(ctx))
	}
	return errors.Join(append(problems, world.Stop(ctx))...)
}

// diagnose prints what somebody would look at first.
func diagnose(ctx context.Context) {
	world.Diagnose(ctx)
	if syncer == nil {
		return
	}
	for _, args := range [][]string{
		{"get", "gitrepositories,kustomizations", "-n", fluxNamespace, "-o", "yaml"},
		{"get", "srot,whe", "-n", story.Namespace, "-o", "yaml"},
	} {
		out, err := syncer.kubectl(ctx, "", args...)
		fmt.Fprintln(os.Stderr, out, err)
	}
	for _, p := range syncer.processes {
		fmt.Fprintf(os.Stderr, "--- %s\n%s\n", p.log, p.tail())
	}
}

// clusterKubeconfig asks the cluster tool for the administrator's kubeconfig.
func clusterKubeconfig(ctx context.Context, root string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "-C", "hack/cluster", ".", "kubeconfig")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the kubeconfig: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// kubectlOf is a kubectl for a cluster.
func kubectlOf(program, kubeconfig string) kubectl {
	return func(ctx context.Context, stdin string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
		cmd.Stdin = strings.NewReader(stdin)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return string(out), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, stderr.String())
		}
		return string(out), nil
	}
}
