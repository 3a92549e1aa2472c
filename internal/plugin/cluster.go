// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// connection is the flags by which kubectl finds a cluster, its user and the namespace.
type connection struct {
	env       Environment
	rules     *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
}

// cluster is a namespace of a cluster, as its user may see it.
type cluster struct {
	client.Client

	config    *rest.Config
	namespace string
}

// add registers the flags. They are those of kubectl, short forms included.
func (c *connection) add(root *cobra.Command) {
	flags := root.PersistentFlags()
	c.rules = clientcmd.NewDefaultClientConfigLoadingRules()
	flags.StringVar(&c.rules.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "path of the kubeconfig file")
	clientcmd.BindOverrideFlags(&c.overrides, flags, clientcmd.RecommendedConfigOverrideFlags(""))
}

// named is the namespace that the command line names; empty if it names none.
func (c *connection) named() string { return c.overrides.Context.Namespace }

// open returns the cluster that the flags, KUBECONFIG and the current context lead to. Nothing is asked of it yet.
func (c *connection) open() (*cluster, error) {
	const remedy = "name the cluster with --kubeconfig or --context, or write the manifest without one with --local"
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &c.overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w: %s", err, remedy)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("find the namespace: %w: name it with --namespace", err)
	}
	config.UserAgent = "kubectl-hookonce/" + c.env.Version
	config.WarningHandler = rest.NewWarningWriter(c.env.Err, rest.WarningWriterOptions{Deduplicate: true})
	kinds := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(kinds); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	if err := v1alpha1.AddToScheme(kinds); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	opened, err := client.New(config, client.Options{Scheme: kinds})
	if err != nil {
		return nil, fmt.Errorf("reach the cluster: %w: %s", err, remedy)
	}
	return &cluster{Client: opened, config: config, namespace: namespace}, nil
}
