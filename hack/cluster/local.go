// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
)

// localCluster is the cluster that this program runs itself.
type localCluster struct {
	s    settings
	node string // wish for the kind of node
}

func (c localCluster) up(ctx context.Context) error   { return up(ctx, c.s, c.node) }
func (c localCluster) down(ctx context.Context) error { return down(ctx, c.s) }

func (c localCluster) kubeconfig(context.Context) (string, error) {
	if _, err := c.s.readState(); err != nil {
		return "", err
	}
	return c.s.kubeconfig(), nil
}

func (c localCluster) env(context.Context) ([]variable, error) {
	state, err := c.s.readState()
	if err != nil {
		return nil, err
	}
	return []variable{
		{"KUBECONFIG", c.s.kubeconfig()},
		{"NODE", string(state.Node)},
		{"HOST_ADDRESS", state.Node.hostAddress()},
		{"LOGS", c.s.logs()},
		{"KUBECTL", state.Components["kubectl"] + "/kubectl"},
	}, nil
}

func (c localCluster) loadImage(ctx context.Context, spec imageSpec) (string, error) {
	return loadImage(ctx, c.s, spec)
}

// buildForNode builds what `up` would, and starts nothing.
func buildForNode(ctx context.Context, s settings, wish string) error {
	kind, err := chooseNode(ctx, wish)
	if err != nil {
		return err
	}
	if kind == nodeContainerd {
		if err := ensurePackages(ctx, containerRequirements); err != nil {
			return err
		}
	}
	components, err := selectComponents(s, nodeSet(kind))
	if err != nil {
		return err
	}
	if err := buildAll(ctx, s, components); err != nil {
		return err
	}
	progress("everything is built, in %s", s.cache)
	return nil
}

// shellQuote leaves plain values as they are, for readers and for simple parsers.
func shellQuote(value string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+,=", r)
	}
	if strings.IndexFunc(value, func(r rune) bool { return !plain(r) }) < 0 {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
