// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/test/canary"
)

// kinds of the shop that people may read, other than Secrets.
const kinds = "webhookendpoints,secretrotations,events,configmaps,deployments,replicasets,pods,services,poddisruptionbudgets," +
	"networkpolicies,cronjobs"

// Places returns what an endpoint and the operator show and write outside of Secrets: objects and events, logs, metrics and
// status, arguments and environments of processes, and the rows of the ledger.
func (w *World) Places(ctx context.Context, endpoint string) ([]canary.Place, error) {
	operators := &corev1.PodList{}
	if err := w.get(ctx, operators, "pods", "-n", OperatorNamespace, "-l", "app.kubernetes.io/name=hookonce-operator"); err != nil {
		return nil, err
	}
	receivers, err := w.receivers(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	var places []canary.Place
	for _, args := range [][]string{
		{"get", kinds, "-n", Namespace, "-o", "yaml"},
		{"describe", "whe,srot,secrets", "-n", Namespace},
		{"get", "secret", endpoint + "-keyring", "-n", Namespace, "-o", "jsonpath={.metadata}", "--show-managed-fields"},
	} {
		text, err := w.Kubectl(ctx, args...)
		if err != nil {
			return nil, err
		}
		places = append(places, canary.Place{Name: "kubectl " + strings.Join(args, " "), Text: text})
	}
	for _, pod := range slices.Concat(operators.Items, receivers) {
		shown, err := w.placesOf(ctx, pod)
		if err != nil {
			return nil, err
		}
		places = append(places, shown...)
	}
	processes, err := ourProcesses()
	if err != nil {
		return nil, err
	}
	rows, err := w.rows(ctx)
	return append(append(places, processes...), rows...), err
}

// placesOf returns what a pod logs, and shows on its ports.
func (w *World) placesOf(ctx context.Context, pod corev1.Pod) ([]canary.Place, error) {
	shown := map[int][]string{privatePort: {receiverstatus.Path, "/metrics"}}
	if pod.Namespace == OperatorNamespace {
		shown = map[int][]string{metricsPort: {"/metrics"}}
	}
	log, err := w.Kubectl(ctx, "logs", pod.Name, "-n", pod.Namespace, "--all-containers")
	if err != nil {
		return nil, err
	}
	places := []canary.Place{{Name: "the log of " + pod.Name, Text: log}}
	for port, paths := range shown {
		for _, path := range paths {
			text, err := w.fetch(ctx, pod, port, path)
			if err != nil {
				return nil, err
			}
			places = append(places, canary.Place{Name: path + " of " + pod.Name, Text: text})
		}
	}
	return places, nil
}

// ourProcesses returns the arguments and environments of the operators and receivers on this machine. On a cluster
// elsewhere there are none.
func ourProcesses() ([]canary.Place, error) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var places []canary.Place
	for _, line := range lines {
		arguments, err := os.ReadFile(line)
		program, _, _ := bytes.Cut(arguments, []byte{0})
		if name := filepath.Base(string(program)); err != nil || (name != "operator" && name != "receiver") {
			// One that has ended since it was listed is none either.
			continue
		}
		environment, err := os.ReadFile(filepath.Join(filepath.Dir(line), "environ"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the environment of a process: %w", err)
		}
		places = append(places, canary.Place{Name: "process " + line, Text: string(arguments) + "\n" + string(environment)})
	}
	return places, nil
}

// rows returns everything in the ledger's tables, bytes as hexadecimal digits.
func (w *World) rows(ctx context.Context) ([]canary.Place, error) {
	const tables = `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'hookonce' ORDER BY 1`
	found, err := w.DB.Query(ctx, tables)
	if err != nil {
		return nil, fmt.Errorf("list the ledger's tables: %w", err)
	}
	names, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the ledger's tables: %w", err)
	}
	text := new(strings.Builder)
	for _, name := range names {
		var content string
		if err := w.DB.QueryRow(ctx, `SELECT coalesce(string_agg(t::text, E'\n'), '') FROM `+name+` t`).Scan(&content); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		text.WriteString(content)
	}
	return []canary.Place{{Name: "the ledger", Text: text.String()}}, nil
}
