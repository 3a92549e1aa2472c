// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// rotationFlags are what rotate and revoke have in common.
type rotationFlags struct {
	secret, name, reason string
	local                bool
	apply, wait          bool
	timeout              time.Duration
}

func (f *rotationFlags) add(cmd *cobra.Command, condition string, timeout time.Duration) {
	flags := cmd.Flags()
	flags.StringVar(&f.secret, "secret", "",
		"Secret that holds the new secret, and the key in it after a slash; default of the key: the endpoint's (required)")
	flags.StringVar(&f.name, "name", "", "name of the SecretRotation; default: made of the endpoint, the Secret and the key")
	flags.StringVar(&f.reason, "reason", "", "why, for people: kept in the annotation "+v1alpha1.AnnotationReason)
	flags.BoolVar(&f.local, "local", false, "ask no cluster: check nothing, and write the manifest all the same")
	flags.BoolVar(&f.apply, "apply", false, "apply the manifest on the server instead of printing it")
	flags.BoolVar(&f.wait, "wait", false, "with --apply: wait until the condition "+condition+" is True")
	flags.DurationVar(&f.timeout, "timeout", timeout, "with --wait: how long to wait")
}

// request reads the flags.
func (f *rotationFlags) request(endpoint, namespace string) (request, error) {
	asked := request{endpoint: endpoint, namespace: namespace, name: f.name, reason: f.reason}
	var err error
	if asked.secret, err = parseSecret(f.secret); err != nil {
		return asked, err
	}
	switch {
	case f.local && f.apply:
		return asked, usagef("--local and --apply exclude each other: --apply needs the cluster")
	case f.local && asked.secret.Key == "":
		return asked, usagef("--secret %s has no key, and with --local the endpoint's is not looked up: write --secret %s/KEY, "+
			"such as %s/secret", f.secret, f.secret, f.secret)
	case f.wait && !f.apply:
		return asked, usagef("--wait needs --apply: a manifest that is only printed brings nothing about")
	case f.timeout <= 0:
		return asked, usagef("--timeout %s: give it a time that is longer than none, such as 10m", f.timeout)
	}
	return asked, asked.check()
}

// ask is a command that has been read: it writes the manifest, or applies it.
type ask struct {
	env     Environment
	cluster *connection
	flags   *rotationFlags
	// condition is what --wait waits for; force takes fields over from whoever has set them.
	condition string
	force     bool
}

// run does what the command line asks for.
func (a *ask) run(ctx context.Context, asked request) error {
	if a.flags.local {
		a.note("Not checked: with --local no cluster is asked.")
		return a.print(&asked, true)
	}
	opened, err := a.cluster.open()
	if err != nil {
		return err
	}
	found, err := opened.look(ctx, &asked)
	if err != nil {
		return err
	}
	notes, err := judge(&asked, found, a.flags.apply, a.env.Now())
	if err != nil {
		return err
	}
	for _, note := range notes {
		a.note(note)
	}
	if fingerprint := found.fingerprint(); fingerprint != "" {
		a.note(fmt.Sprintf("The new secret has the fingerprint %s; the current one is %s.", fingerprint, found.current()))
	}
	line := found.endpoint.Spec.Verification.SecretRef != asked.secret
	if !a.flags.apply {
		return a.print(&asked, line)
	}
	return a.apply(ctx, opened, &asked, line)
}

// print writes the manifest to the output, and what is next for people.
func (a *ask) print(asked *request, line bool) error {
	document, err := encode(asked.manifest())
	if err != nil {
		return err
	}
	if _, err := a.env.Out.Write(document); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	a.next(steps(asked, line, false, ""))
	return nil
}

// apply applies the manifest, waits if that was asked for, and says what is next.
func (a *ask) apply(ctx context.Context, opened *cluster, asked *request, line bool) error {
	name := asked.rotationName()
	if err := opened.apply(ctx, "SecretRotation "+name, asked.manifest(), a.force); err != nil {
		return err
	}
	applied, err := opened.rotation(ctx, name)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.env.Out, "secretrotation.%s/%s serverside-applied\n", v1alpha1.GroupVersion.Group, applied.Name); err != nil {
		return fmt.Errorf("write the name: %w", err)
	}
	reached := ""
	if a.flags.wait {
		start := a.env.Now()
		err := opened.wait(ctx, applied, a.condition, a.flags.timeout, func(state, message string) {
			a.note(fmt.Sprintf("%4s %s: %s", a.env.Now().Sub(start).Round(time.Second), state, message))
		})
		if err != nil {
			return err
		}
		a.note(fmt.Sprintf("%s is True.", a.condition))
		reached = a.condition
	}
	a.next(steps(asked, line, true, reached))
	return nil
}

// note tells people something.
func (a *ask) note(text string) { fmt.Fprintln(a.env.Err, text) }

// next numbers what is to be done.
func (a *ask) next(steps []string) {
	a.note("Next:")
	for i, step := range steps {
		a.note(fmt.Sprintf("  %d. %s", i+1, step))
	}
}
