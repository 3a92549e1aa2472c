// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi" //nolint:gosec // G504 is about Go before 1.6.3
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// repository is a Git repository in a folder of this machine, which a server on loopback lets others clone.
type repository struct {
	folder string
	server *http.Server
	// URL is where it can be cloned from.
	URL string
}

// newRepository makes an empty repository in a folder and serves it.
func newRepository(ctx context.Context, folder string) (*repository, error) {
	r := &repository{folder: folder}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make the repository: %w", err)
	}
	if _, err := r.git(ctx, "init", "--quiet", "--initial-branch=main"); err != nil {
		return nil, err
	}
	programs, err := r.git(ctx, "--exec-path")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the repository: %w", err)
	}
	r.URL = "http://" + listener.Addr().String() + "/.git"
	r.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: &cgi.Handler{
			Path: filepath.Join(programs, "git-http-backend"),
			Env:  append(gitEnvironment(), "GIT_PROJECT_ROOT="+folder, "GIT_HTTP_EXPORT_ALL=1"),
		},
	}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// close ends the server.
func (r *repository) close() error { return r.server.Close() }

// gitEnvironment keeps the settings of this machine's users out.
func gitEnvironment() []string {
	env := []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME=Shop", "GIT_"+who+"_EMAIL=shop@example.com")
	}
	return env
}

func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.folder
	cmd.Env = append(os.Environ(), gitEnvironment()...)
	out, err := cmd.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// commit writes files, removes those without content, and returns the commit's id.
func (r *repository) commit(ctx context.Context, message string, files map[string]string) (string, error) {
	for name, content := range files {
		path := filepath.Join(r.folder, name)
		if content == "" {
			if err := os.Remove(path); err != nil {
				return "", fmt.Errorf("remove a file from the repository: %w", err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return "", fmt.Errorf("write a file of the repository: %w", err)
		}
	}
	if _, err := r.git(ctx, "add", "--all"); err != nil {
		return "", err
	}
	if _, err := r.git(ctx, "commit", "--quiet", "-m", message); err != nil {
		return "", err
	}
	return r.git(ctx, "rev-parse", "HEAD")
}

// revert undoes the latest commit with another, and returns its id.
func (r *repository) revert(ctx context.Context) (string, error) {
	if _, err := r.git(ctx, "revert", "--no-edit", "HEAD"); err != nil {
		return "", err
	}
	return r.git(ctx, "rev-parse", "HEAD")
}
