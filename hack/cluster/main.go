// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command cluster brings up a real one-node Kubernetes cluster on this machine, from the Go
// module proxy and Debian packages alone, and takes it down again without a trace.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: go run -C hack/cluster . [--cluster local|kind|current] COMMAND

  up            build what is missing and start the cluster; nothing to do if it is up
  down          stop it and undo all that it did to the host (its logs stay)
  build         only build, to warm the cache
  kubeconfig    print the path of the administrator's kubeconfig
  env           print KUBECONFIG, NODE, HOST_ADDRESS, LOGS and KUBECTL as shell assignments
  load-image    --tag NAME --binary PATH [--binary PATH...] [--user UID] [--entrypoint /NAME]
                make an image of static binaries, give it to the cluster, print its reference;
                relative paths start at the root of the repository
  envtest-bins  build etcd, kube-apiserver and kubectl, print their folder (KUBEBUILDER_ASSETS)
  flux-bins     build Flux's source-controller and kustomize-controller, print the folder with them
                and the definitions of their kinds (crds/)

CLUSTER is the default of --cluster (local). NODE=containerd|process|auto says what runs the pods.
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// cluster is one of the three kinds of cluster.
type cluster interface {
	up(ctx context.Context) error
	down(ctx context.Context) error
	kubeconfig(ctx context.Context) (string, error)
	env(ctx context.Context) ([]variable, error)
	loadImage(ctx context.Context, spec imageSpec) (string, error)
}

// variable is one line of `env`.
type variable struct{ name, value string }

func command(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	which := flags.String("cluster", os.Getenv("CLUSTER"), "")
	if err := flags.Parse(args); err != nil {
		return ignoreHelp(err)
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return errors.New("which command?")
	}
	if err := extendPath(); err != nil {
		return err
	}
	s, err := loadSettings()
	if err != nil {
		return err
	}
	c, err := openCluster(s, *which)
	if err != nil {
		return err
	}
	name, rest := flags.Arg(0), flags.Args()[1:]
	if name != "load-image" && len(rest) > 0 {
		return fmt.Errorf("%s takes no arguments: %v (--cluster goes before the command)", name, rest)
	}
	return dispatch(ctx, s, c, name, rest)
}

func dispatch(ctx context.Context, s settings, c cluster, name string, rest []string) error {
	switch name {
	case "up":
		return c.up(ctx)
	case "down":
		return c.down(ctx)
	case "build":
		return buildForNode(ctx, s, os.Getenv("NODE"))
	case "kubeconfig":
		return printed(c.kubeconfig(ctx))
	case "env":
		return printEnv(ctx, c)
	case "load-image":
		spec, err := parseImage(s, rest)
		if err != nil {
			return ignoreHelp(err)
		}
		return printed(c.loadImage(ctx, spec))
	case "envtest-bins":
		return printed(envtestFolder(ctx, s))
	case "flux-bins":
		return printed(fluxFolder(ctx, s))
	default:
		fmt.Fprint(os.Stderr, usage)
		return fmt.Errorf("unknown command %q", name)
	}
}

func openCluster(s settings, which string) (cluster, error) {
	switch which {
	case "", "local":
		return localCluster{s: s, node: os.Getenv("NODE")}, nil
	case "kind":
		return kindCluster{s: s}, nil
	case "current":
		return currentCluster{s: s, image: os.Getenv("IMAGE")}, nil
	default:
		return nil, fmt.Errorf("CLUSTER is %q: want local, kind or current", which)
	}
}

func ignoreHelp(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	return err
}

func printed(result string, err error) error {
	if err != nil {
		return err
	}
	fmt.Println(result)
	return nil
}

func printEnv(ctx context.Context, c cluster) error {
	variables, err := c.env(ctx)
	if err != nil {
		return err
	}
	for _, v := range variables {
		fmt.Printf("%s=%s\n", v.name, shellQuote(v.value))
	}
	return nil
}

func parseImage(s settings, args []string) (imageSpec, error) {
	var spec imageSpec
	var binaries stringList
	flags := flag.NewFlagSet("load-image", flag.ContinueOnError)
	tag := flags.String("tag", "", "name of the image, NAME or NAME:TAG")
	flags.Var(&binaries, "binary", "static binary to put at /NAME (may be repeated)")
	flags.StringVar(&spec.user, "user", "65532", "numeric user")
	flags.StringVar(&spec.entrypoint, "entrypoint", "", "command to run (default: the first binary)")
	if err := flags.Parse(args); err != nil {
		return spec, err
	}
	if flags.NArg() > 0 {
		return spec, fmt.Errorf("load-image takes flags only: %v", flags.Args())
	}
	for _, binary := range binaries {
		spec.binaries = append(spec.binaries, s.absolute(binary))
	}
	if len(spec.binaries) == 0 {
		return spec, errors.New("load-image needs --tag and at least one --binary")
	}
	var err error
	spec.reference, err = normalReference(*tag)
	return spec, err
}
