// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command operator runs the controllers of WebhookEndpoints and SecretRotations.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hookonce/hookonce/controllers"
)

// version of this build; the linker sets it.
var version = "dev"

const (
	// namespaceFile is where a pod finds its own namespace.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	// defaultNamespace is taken for the operator's own outside of a pod.
	defaultNamespace = "hookonce-system"
)

func main() {
	if err := run(ctrl.SetupSignalHandler(), os.Args[1:], os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

// run reads the settings and runs the controllers until the context ends.
func run(ctx context.Context, args []string, getenv func(string) string) error {
	options, err := parse(args, getenv)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	logger := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, nil))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	config.UserAgent = "hookonce-operator/" + version
	if options.Render.Image == "" {
		pod := types.NamespacedName{Namespace: options.Render.OperatorNamespace, Name: getenv("POD_NAME")}
		if options.Render.Image, err = controllers.OwnImage(ctx, config, pod); err != nil {
			return err
		}
	}
	manager, err := controllers.NewManager(ctx, config, options)
	if err != nil {
		return err
	}
	logger.Info("Starting", "version", version, "receiverImage", options.Render.Image, "namespaces", options.Namespaces)
	if err := manager.Start(ctx); err != nil {
		return fmt.Errorf("run the controllers: %w", err)
	}
	return nil
}

// parse turns arguments and environment into settings.
func parse(args []string, getenv func(string) string) (controllers.Options, error) {
	var options controllers.Options
	var namespaces, networks string
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	// controller-runtime and client-go read --kubeconfig from the process's own set.
	if kubeconfig := flag.CommandLine.Lookup("kubeconfig"); kubeconfig != nil {
		flags.Var(kubeconfig.Value, kubeconfig.Name, kubeconfig.Usage)
	}
	flags.StringVar(&options.Render.Image, "receiver-image", "",
		"image of the receivers; default: the operator's own, read from the pod that POD_NAME and POD_NAMESPACE name")
	flags.DurationVar(&options.StatusInterval, "status-interval", 10*time.Second, "how often receivers are asked for their status")
	flags.DurationVar(&options.SecretInterval, "secret-interval", 30*time.Second, "how often the Secrets that specs name are read")
	flags.DurationVar(&options.PropagationInterval, "propagation-interval", 2*time.Second,
		"how often receivers are asked while a new secret is on its way to them")
	flags.StringVar(&options.MetricsAddress, "metrics-bind-address", ":8080", "address of /metrics; 0 for none")
	flags.StringVar(&options.ProbeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 for none")
	flags.BoolVar(&options.LeaderElection, "leader-elect", false, "let one of several operators act at a time")
	flags.StringVar(&namespaces, "namespaces", "", "namespaces to serve, separated by commas; default: all")
	flags.StringVar(&options.Render.OperatorNamespace, "operator-namespace", ownNamespace(getenv),
		"namespace that the operator runs in: receivers let it reach their private port, and the leader's lease is there")
	flags.StringVar(&networks, "destination-networks", "", "networks that destinations may be in, beside the public internet, "+
		"separated by commas; default: the private ones of RFC 1918 and RFC 4193. A change restarts the receivers")
	if err := flags.Parse(args); err != nil {
		return options, err
	}
	options.Namespaces, options.Render.DestinationNetworks = list(namespaces), list(networks)
	return options, check(options, flags.Args(), getenv)
}

// list returns what commas separate.
func list(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// check says what cannot work.
func check(options controllers.Options, rest []string, getenv func(string) string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("argument %q is not a flag", rest[0])
	case options.Render.Image == "" && getenv("POD_NAME") == "":
		return errors.New("there is no receiver image: set --receiver-image, or POD_NAME to take the operator's own")
	case options.StatusInterval < time.Second, options.SecretInterval < time.Second, options.PropagationInterval < time.Second:
		return errors.New("the intervals must be at least 1s")
	}
	for _, text := range options.Render.DestinationNetworks {
		if network, err := netip.ParsePrefix(text); err != nil || network != network.Masked() {
			return fmt.Errorf("--destination-networks: %q is not a network such as 10.0.0.0/8", text)
		}
	}
	return nil
}

// ownNamespace is where the operator runs.
func ownNamespace(getenv func(string) string) string {
	if namespace := getenv("POD_NAMESPACE"); namespace != "" {
		return namespace
	}
	content, err := os.ReadFile(namespaceFile)
	if err != nil {
		return defaultNamespace
	}
	return strings.TrimSpace(string(content))
}
