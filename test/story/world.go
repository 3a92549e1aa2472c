// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookonce/hookonce/test/postgres"
)

// StateFolder holds the story's Postgres, sink and overlays. It is the same for every checkout, as the cluster is.
const StateFolder = "/var/tmp/hookonce-story"

const (
	// Namespace is where the shop and its endpoints live.
	Namespace = "shop"
	// OperatorNamespace is where the operator lives.
	OperatorNamespace = "hookonce-system"
	// nodeProcess is the local cluster's stand-in node, which runs pods as processes and has no Services.
	nodeProcess = "process"
)

// World is a cluster with the operator and a shop, a Postgres beside it and a sink behind the shop's destination.
type World struct {
	// Root is the root of the checkout.
	Root string
	// State is the folder for everything that the story keeps between commands.
	State string
	// Out gets what the story says.
	Out io.Writer
	// DB is a connection to the shop's database as its administrator, who sees the ledger and the shop.
	DB *pgxpool.Pool

	cluster  cluster
	database *postgres.Server
	// image of this build, as pods name it.
	image string
	// run distinguishes the events of this telling from those of earlier ones in the same ledger.
	run string
}

// New describes a world; nothing is started yet.
func New(root string, out io.Writer) *World {
	return &World{Root: root, State: StateFolder, Out: out, run: strconv.FormatInt(time.Now().Unix(), 36)}
}

// Node says on which node the story plays: containerd, process, or the kind of a cluster that is not ours.
func (w *World) Node() string { return w.cluster.node }

// Say prints one line.
func (w *World) Say(format string, args ...any) {
	fmt.Fprintf(w.Out, format+"\n", args...)
}

// Start brings up the cluster, Postgres, the sink, the operator and the shop, and waits until the shop's endpoints are
// ready. What runs already is left running.
func (w *World) Start(ctx context.Context) error {
	if err := os.MkdirAll(w.State, 0o755); err != nil {
		return fmt.Errorf("make the story's folder: %w", err)
	}
	steps := []struct {
		what string
		do   func(context.Context) error
	}{
		{"cluster", w.startCluster},
		{"binaries and image", w.buildImage},
		{"clean table", w.stopServers},
		{"Postgres", w.StartDatabase},
		{"empty shop", w.reset},
		{"sink", w.StartSink},
		{"operator", w.applyOperator},
		{"shop", w.ApplyShop},
	}
	for _, step := range steps {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("set up the %s: %w", step.what, err)
		}
		w.Say("  ready: %-20s %5.1f s", step.what, time.Since(began).Seconds())
	}
	return nil
}

// Stop ends what Start started, in this process or an earlier one, except the cluster.
func (w *World) Stop(ctx context.Context) error {
	if w.DB != nil {
		w.DB.Close()
	}
	if err := w.leaveCluster(ctx); err != nil {
		return err
	}
	if err := w.stopServers(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(w.State); err != nil {
		return fmt.Errorf("remove the story's folder: %w", err)
	}
	return nil
}

// stopServers ends the sink and the Postgres of an earlier telling: they may listen where its cluster reached them.
func (w *World) stopServers(ctx context.Context) error {
	if err := w.StopSink(ctx); err != nil {
		return err
	}
	if server, err := postgres.Attach(w.databaseFolder()); err == nil {
		return server.Stop()
	}
	return nil
}

// leaveCluster removes the shop and the operator from a cluster that answers.
func (w *World) leaveCluster(ctx context.Context) error {
	if !w.answers(ctx) {
		w.Say("  no cluster answers: nothing to remove in one")
		return nil
	}
	if err := w.deleteShop(ctx); err != nil {
		return err
	}
	_, err := w.Kubectl(ctx, "delete", "-k", "config/default", "--ignore-not-found", "--timeout=120s")
	return err
}

// answers says whether there is a cluster, and its API server answers.
func (w *World) answers(ctx context.Context) bool {
	if err := w.findCluster(ctx); err != nil {
		return false
	}
	_, err := w.Kubectl(ctx, "get", "--raw", "/readyz", "--request-timeout=5s")
	return err == nil
}

// buildImage builds both binaries and loads them into the cluster under a tag that changes with them, so that pods of an
// earlier telling are replaced.
func (w *World) buildImage(ctx context.Context) error {
	if _, err := (command{name: "make", args: []string{"--no-print-directory", "build"}, progress: w.Out}).run(ctx, w.Root); err != nil {
		return err
	}
	sink := filepath.Join(w.Root, "bin", "demo-sink")
	build := command{name: "go", args: []string{"build", "-o", sink, "./hack/demo/sink"}, progress: w.Out}
	if _, err := build.run(ctx, w.Root); err != nil {
		return err
	}
	tag, err := digestOf(filepath.Join(w.Root, "bin", "operator"), filepath.Join(w.Root, "bin", "receiver"))
	if err != nil {
		return err
	}
	out, err := w.clusterTool(ctx, "load-image", "--tag", "hookonce:"+tag, "--user", "65532",
		"--binary", filepath.Join(w.Root, "bin", "operator"), "--binary", filepath.Join(w.Root, "bin", "receiver"))
	if err != nil {
		return err
	}
	return w.writeOperatorOverlay(strings.TrimSpace(out))
}

// Event returns an event id of this telling.
func (w *World) Event(name string) string { return "evt_" + w.run + "_" + name }

// Invoice returns a resource id of this telling.
func (w *World) Invoice(name string) string { return "inv_" + w.run + "_" + name }

// Count returns the number that a query selects.
func (w *World) Count(ctx context.Context, query string, args ...any) (int, error) {
	var n int
	if err := w.DB.QueryRow(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count with %q: %w", query, err)
	}
	return n, nil
}

// expect returns an error unless a query selects the number that is wanted.
func (w *World) expect(ctx context.Context, want int, what, query string, args ...any) error {
	n, err := w.Count(ctx, query, args...)
	if err != nil {
		return err
	}
	if n != want {
		return fmt.Errorf("%s: %d instead of %d", what, n, want)
	}
	w.Say("  %s: %d", what, n)
	return nil
}
