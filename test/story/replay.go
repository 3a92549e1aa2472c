// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/internal/receiverconfig"
)

// replay sends the failed deliveries of an endpoint again, in one of its receivers as a user would, or on this machine
// where a pod cannot be entered.
func (w *World) replay(ctx context.Context, endpoint string) error {
	if w.cluster.node == nodeProcess {
		return w.replayHere(ctx, endpoint)
	}
	pods, err := w.receivers(ctx, endpoint)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if podReady(pod) {
			return w.show(ctx, "exec", "-n", Namespace, pod.Name, "-c", "receiver", "--", "/receiver", "replay", "--failed",
				"--config-dir=/etc/hookonce/config", "--database-dir=/etc/hookonce/database")
		}
	}
	return errors.New("no receiver is ready to replay in")
}

func (w *World) replayHere(ctx context.Context, endpoint string) error {
	document := &corev1.ConfigMap{}
	if err := w.get(ctx, document, "configmap", endpoint+"-receiver", "-n", Namespace); err != nil {
		return err
	}
	folder := filepath.Join(w.State, "config-"+endpoint)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make a folder for the configuration: %w", err)
	}
	file := filepath.Join(folder, receiverconfig.FileName)
	if err := os.WriteFile(file, []byte(document.Data[receiverconfig.FileName]), 0o644); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	out, err := command{name: filepath.Join(w.Root, "bin", "receiver"), args: []string{
		"replay", "--failed", "--config-dir=" + folder, "--database-url=" + w.databaseURL(),
	}}.run(ctx, w.Root)
	if err != nil {
		return err
	}
	w.Say("  %s", out)
	return nil
}
