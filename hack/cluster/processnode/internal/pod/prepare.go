// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/volume"
)

const (
	// prepareRetry is the time between two attempts to get together what a pod needs.
	prepareRetry = time.Second
	// readTimeout bounds each attempt, so that a lost API server does not hold a stop up.
	readTimeout = 10 * time.Second
)

// prepare makes the pod's folders, volumes and account. It tries until it works, and reports
// false if the pod was stopped before.
func (r *Runner) prepare() bool {
	told := ""
	for {
		err := unsupported(r.facts().Pod)
		reason := reasonConfigError
		if err == nil {
			reason = reasonCreating
			err = r.prepareOnce()
		}
		if err == nil {
			r.setWaiting(r.inits, reasonInitializing, "")
			r.setWaiting(r.mains, mainsReason(r.inits), "")
			return r.stopping.Err() == nil
		}
		if told != err.Error() {
			told = err.Error()
			r.setWaiting(r.inits, reason, told)
			r.setWaiting(r.mains, reason, told)
			r.event(corev1.EventTypeWarning, "FailedMount", told)
			r.log.Warn("pod cannot start yet", "error", err)
		}
		if !r.sleep(prepareRetry) {
			return false
		}
	}
}

func mainsReason(inits []*container) string {
	if len(inits) > 0 {
		return reasonInitializing
	}
	return reasonCreating
}

func (r *Runner) prepareOnce() error {
	ctx, cancel := context.WithTimeout(r.stopping, readTimeout)
	defer cancel()
	for _, dir := range []string{r.workDir(), r.node.LogDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make a folder for the pod: %w", err)
		}
	}
	if err := r.content.load(ctx, r.node.Objects.Content); err != nil {
		return err
	}
	if err := r.writeAccount(ctx); err != nil {
		return err
	}
	r.projecting.Lock()
	defer r.projecting.Unlock()
	if err := r.writeVolumes(ctx); err != nil {
		return err
	}
	r.projected = true
	return nil
}

func (r *Runner) writeAccount(ctx context.Context) error {
	wanted, err := r.node.Tokens.Wanted(ctx, r.facts().Pod)
	if err != nil || !wanted {
		return err
	}
	path, err := r.tokens.WriteAccount(ctx, filepath.Join(r.folder(), "account"), r.node.Server)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.account = path
	return nil
}

// writeVolumes needs the lock on projecting.
func (r *Runner) writeVolumes(ctx context.Context) error {
	facts := r.facts()
	sources := volume.Sources{Facts: facts, Object: r.content.get, Token: r.tokens.Token}
	for i := range facts.Pod.Spec.Volumes {
		v := &facts.Pod.Spec.Volumes[i]
		dir := r.volumeDir(v.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the folder of volume %s: %w", v.Name, err)
		}
		if !volume.Projects(v) {
			continue
		}
		files, err := volume.Files(ctx, v, sources)
		if err != nil {
			return err
		}
		changed, err := volume.Write(dir, files, time.Now())
		if err != nil {
			return fmt.Errorf("write volume %s: %w", v.Name, err)
		}
		if changed {
			r.log.Debug("volume written", "volume", v.Name)
		}
	}
	return nil
}

// project writes the volumes again after a change. When that fails (a key is gone, say) the files
// stay as they are.
func (r *Runner) project() {
	r.projecting.Lock()
	defer r.projecting.Unlock()
	if !r.projected || r.stopping.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.stopping, readTimeout)
	defer cancel()
	if err := r.writeVolumes(ctx); err != nil && r.stopping.Err() == nil {
		r.event(corev1.EventTypeWarning, "FailedMount", err.Error())
		r.log.Warn("volumes are not up to date", "error", err)
	}
}

func (r *Runner) renewTokens() {
	for r.sleep(max(time.Second, time.Until(r.tokens.RenewAt()))) {
		ctx, cancel := context.WithTimeout(r.stopping, readTimeout)
		if err := r.writeAccount(ctx); err != nil && r.stopping.Err() == nil {
			r.log.Warn("the token is not renewed", "error", err)
		}
		cancel()
		r.project()
	}
}

func (r *Runner) removeFolder() {
	r.projecting.Lock()
	defer r.projecting.Unlock()
	if err := os.RemoveAll(r.folder()); err != nil {
		r.log.Warn("the pod's folder is left", "error", err)
	}
}

func (r *Runner) volumeDir(name string) string { return filepath.Join(r.folder(), "volumes", name) }

// workDir is the working directory of the pod's processes, and their place for temporary files.
func (r *Runner) workDir() string { return filepath.Join(r.folder(), "work") }

func (r *Runner) setWaiting(containers []*container, reason, message string) {
	r.update(func() {
		for _, c := range containers {
			c.status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		}
	})
}
