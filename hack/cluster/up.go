// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"
)

// startLimit bounds the start of one process. Each takes seconds; a machine that is busy with
// builds takes much longer.
const startLimit = 3 * time.Minute

// local is the cluster on this machine.
type local struct {
	settings
	kind nodeKind
	bin  map[string]string // paths of the commands by name
	keys map[string]string // folders of the components by name
}

// openLocal finds the binaries for that kind of node; it builds nothing.
func openLocal(s settings, kind nodeKind) (*local, []component, error) {
	components, err := selectComponents(s, nodeSet(kind))
	if err != nil {
		return nil, nil, err
	}
	bin, err := s.binaries(components)
	if err != nil {
		return nil, nil, err
	}
	keys := map[string]string{}
	for _, c := range components {
		if keys[c.name], err = s.cacheFolder(c); err != nil {
			return nil, nil, err
		}
	}
	return &local{settings: s, kind: kind, bin: bin, keys: keys}, components, nil
}

// up brings the cluster up, or finds that it is.
func up(ctx context.Context, s settings, wish string) error {
	unlock, err := lockFile(s.path("lock"))
	if err != nil {
		return err
	}
	defer unlock()
	kind, err := chooseNode(ctx, wish)
	if err != nil {
		return err
	}
	if kind == nodeContainerd {
		if err := ensurePackages(ctx, containerRequirements); err != nil {
			return err
		}
	}
	l, components, err := openLocal(s, kind)
	if err != nil {
		return err
	}
	reason := l.unhealthy(ctx)
	if reason == nil {
		progress("the cluster is up (NODE=%s)", kind)
		return nil
	}
	if err := buildAll(ctx, s, components); err != nil {
		return err
	}
	if s.leftovers() {
		progress("cleaning up another cluster: %v", reason)
		if err := tearDown(ctx, s); err != nil {
			return err
		}
	}
	if err := l.startAll(ctx); err != nil {
		return fmt.Errorf("%w\nlogs are in %s", err, s.logs())
	}
	progress("the cluster is up (NODE=%s); logs in %s", kind, s.logs())
	return nil
}

// unhealthy is why the running cluster cannot be used as it is, or nil.
func (l *local) unhealthy(ctx context.Context) error {
	state, err := l.readState()
	if err != nil {
		return err
	}
	if state.Node != l.kind {
		return fmt.Errorf("it runs NODE=%s", state.Node)
	}
	if !maps.Equal(state.Components, l.keys) {
		return errors.New("it runs other versions")
	}
	for _, name := range state.Processes {
		if !l.running(name) {
			return fmt.Errorf("%s is not running", name)
		}
	}
	client, err := newAPIClient(l.settings, l.kind)
	if err != nil {
		return err
	}
	if err := client.ready(ctx); err != nil {
		return err
	}
	return client.nodeReady(ctx)
}

func (l *local) startAll(ctx context.Context) error {
	// Old logs would only mislead.
	if err := os.RemoveAll(l.logs()); err != nil {
		return fmt.Errorf("remove old logs: %w", err)
	}
	if err := os.MkdirAll(l.logs(), 0o755); err != nil {
		return fmt.Errorf("make the folder of logs: %w", err)
	}
	if err := writePKI(l.settings, l.kind, time.Now()); err != nil {
		return err
	}
	if l.kind == nodeContainerd {
		if err := setUpNetwork(ctx, l.settings); err != nil {
			return err
		}
	}
	steps := []func(context.Context) error{l.startEtcd, l.startAPIServer, l.startNode}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	client, err := newAPIClient(l.settings, l.kind)
	if err != nil {
		return err
	}
	if err := l.waitFor(ctx, l.nodeProcessName(), client.nodeReady); err != nil {
		return err
	}
	if err := l.waitFor(ctx, "kube-controller-manager", client.podsAdmitted); err != nil {
		return err
	}
	if l.kind == nodeContainerd {
		if err := l.waitForDNS(ctx); err != nil {
			return err
		}
	}
	return l.writeState(clusterState{
		Node: l.kind, Components: l.keys, Processes: l.recorded(), Started: time.Now(),
	})
}

// startNode starts what comes after the API server.
func (l *local) startNode(ctx context.Context) error {
	if err := l.startControllers(); err != nil {
		return err
	}
	if l.kind == nodeProcess {
		return l.startProcessNode()
	}
	if err := l.startContainerd(ctx); err != nil {
		return err
	}
	if err := l.startKubelet(); err != nil {
		return err
	}
	if err := l.startProxy(); err != nil {
		return err
	}
	return l.startDNS(ctx)
}

func (l *local) nodeProcessName() string {
	if l.kind == nodeProcess {
		return "processnode"
	}
	return "kubelet"
}

// startProcessNode starts the stand-in node, which runs pods as processes of this host.
func (l *local) startProcessNode() error {
	return l.start(process{name: "processnode", path: l.bin["processnode"], args: []string{
		"--kubeconfig=" + l.path("conf", "kubelet.kubeconfig"), "--node-name=" + nodeName,
		"--node-ip=" + l.kind.hostAddress(), "--images-dir=" + l.images(),
		"--state-dir=" + l.path("processnode"), "--log-dir=" + l.logs(),
	}})
}

// waitFor repeats check until it succeeds. It gives up after startLimit, and at once when the
// process of that name has ended.
func (l *local) waitFor(ctx context.Context, name string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	started, said := time.Now(), time.Now()
	for {
		err := check(ctx)
		if err == nil {
			progress("%s answers", name)
			return nil
		}
		if !l.running(name) {
			return fmt.Errorf("%s has ended\n%s", name, l.logTail(name))
		}
		if time.Since(said) > 10*time.Second {
			progress("waiting for %s since %s: %v", name, time.Since(started).Round(time.Second), err)
			said = time.Now()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not usable after %s: %w\n%s", name, startLimit, err, l.logTail(name))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
