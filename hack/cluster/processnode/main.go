// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command processnode is a Kubernetes node that runs pods as plain processes of this machine,
// for machines that cannot run containers. See README.md.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	vklog "github.com/virtual-kubelet/virtual-kubelet/log"
	"github.com/virtual-kubelet/virtual-kubelet/log/klogv2"
	"k8s.io/klog/v2"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/objects"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/process"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/service"
)

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "processnode:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	o := service.Options{Delay: &objects.Delay{}}
	var seed uint64
	var verbose bool
	c := &cobra.Command{
		Use:   "processnode",
		Short: "A Kubernetes node that runs pods as plain processes",
		Args:  cobra.NoArgs,
		// An error of the run is no reason to explain the flags.
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			o.Delay.Seed(seed)
			return run(o, verbose)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig of a cluster administrator (required)")
	flags.StringVar(&o.NodeName, "node-name", "", "name of the node (required)")
	flags.StringVar(&o.NodeIP, "node-ip", "127.0.0.1", "address of this machine as the API server reaches it")
	flags.StringVar(&o.Port, "port", "0", "port on the node's address where the API server asks for logs; 0: any")
	flags.StringVar(&o.PodCIDR, "pod-cidr", "127.77.0.0/16", "range of the pods' addresses; this machine must own them")
	flags.StringVar(&o.ImagesDir, "images-dir", "", "folder with a folder for each image (required)")
	flags.StringVar(&o.StateDir, "state-dir", "", "folder for the pods' volumes, emptied at the start and the end (required)")
	flags.StringVar(&o.LogDir, "log-dir", "", "folder for <namespace>_<pod>_<container>.log (required)")
	flags.Var(o.Delay, "secret-delay", "time until a changed Secret or ConfigMap shows in the pods, or a range such as 0s-120s")
	flags.Uint64Var(&seed, "seed", 1, "seed of the delays drawn from the range")
	flags.DurationVar(&o.Grace, "shutdown-grace", 10*time.Second, "longest time that a pod gets to end when the node stops")
	flags.BoolVar(&verbose, "verbose", false, "log at debug level")
	c.AddCommand(guardCommand())
	return c
}

// guardCommand is how the node starts its guard; people never do.
func guardCommand() *cobra.Command {
	return &cobra.Command{
		Use: "guard", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			// The guard ends with the node, not with the terminal.
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			return process.RunGuard(os.Stdin)
		},
	}
}

func check(o service.Options) error {
	for flag, value := range map[string]string{
		"kubeconfig": o.Kubeconfig, "node-name": o.NodeName, "images-dir": o.ImagesDir, "state-dir": o.StateDir, "log-dir": o.LogDir,
	} {
		if value == "" {
			return fmt.Errorf("--%s is required", flag)
		}
	}
	if net.ParseIP(o.NodeIP) == nil {
		return fmt.Errorf("--node-ip is %q: want an IP address", o.NodeIP)
	}
	return nil
}

func run(o service.Options, verbose bool) error {
	if err := check(o); err != nil {
		return err
	}
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	klog.SetSlogLogger(log)
	vklog.L = klogv2.New(nil)
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	o.Guard = []string{self, "guard"}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// After the first signal the next one ends the node at once, and the guard ends the pods.
	context.AfterFunc(ctx, stop)
	return service.Run(ctx, o, log)
}
