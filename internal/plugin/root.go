// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plugin is the commands of kubectl hookonce: for each there is a file with its flags and what it does, and they
// share how a cluster is found, how one waits, and what exit codes mean. Manifests are made by pure functions, so that a
// command prints without a cluster what it would apply to one. No command prints a secret, or anything made from one but
// the fingerprints that the status shows too.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Exit codes.
const (
	// ExitOK says that the command did what it was asked.
	ExitOK = 0
	// ExitFailed says that it was refused, or failed.
	ExitFailed = 1
	// ExitUsage says that the command line is wrong; nothing was read or written.
	ExitUsage = 2
	// ExitTimeout says that what was waited for has not come yet; what was applied goes on.
	ExitTimeout = 3
)

// FieldManager owns what the commands apply. Flux takes back what managers whose name begins with kubectl have set.
const FieldManager = "hookonce-cli"

// Environment is what the commands have of the process that they run in.
type Environment struct {
	// Out is for what programs read: manifests and the names of what was applied. Err is for people.
	Out, Err io.Writer
	// Now is the clock.
	Now func() time.Time
	// Version of the build.
	Version string
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errTimeout says that what was waited for has not come yet.
var errTimeout = errors.New("the time is over")

// Run executes a command line and returns the exit code. It ends early when the context does.
func Run(ctx context.Context, args []string, env Environment) int {
	log.SetLogger(logr.Discard())
	root := newRoot(env)
	root.SetArgs(args)
	err := execute(ctx, root, args)
	if err == nil {
		return ExitOK
	}
	fmt.Fprintf(env.Err, "kubectl hookonce: %v\n", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return ExitUsage
	}
	if errors.Is(err, errTimeout) {
		return ExitTimeout
	}
	return ExitFailed
}

func execute(ctx context.Context, root *cobra.Command, args []string) error {
	if _, _, err := root.Find(args); err != nil {
		return usageError{err}
	}
	return root.ExecuteContext(ctx)
}

func newRoot(env Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-hookonce",
		Short: "Rotates signing secrets, shows where events went, and sends failed deliveries again",
		Annotations: map[string]string{
			cobra.CommandDisplayNameAnnotation: "kubectl hookonce",
		},
		Version:       env.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	cluster := &connection{env: env}
	cluster.add(root)
	root.AddCommand(newRotate(env, cluster), newRevoke(env, cluster), newReplay(env, cluster),
		newDeliveries(env, cluster), newAudit(env, cluster))
	return root
}

// oneEndpoint wants exactly the endpoint's name.
func oneEndpoint(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return usagef("ENDPOINT is missing: name the WebhookEndpoint, as kubectl get whe shows it")
	default:
		return usagef("arguments %q are too many: the only one is ENDPOINT; everything else is a flag", strings.Join(args[1:], " "))
	}
}
