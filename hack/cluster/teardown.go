// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// down takes the cluster down, whole or in pieces.
func down(ctx context.Context, s settings) error {
	if _, err := os.Stat(s.state); errors.Is(err, os.ErrNotExist) {
		progress("no cluster is up")
		return nil
	}
	unlock, err := lockFile(s.path("lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if !s.leftovers() {
		progress("no cluster is up")
		return nil
	}
	if err := tearDown(ctx, s); err != nil {
		return err
	}
	progress("the cluster is down; its logs stay in %s", s.logs())
	return nil
}

// tearDown undoes everything that a cluster with this state folder did to the host. It does
// not need the cluster to be whole: it also cleans up after processes that were killed.
func tearDown(ctx context.Context, s settings) error {
	cgroups := containerCgroups(s)
	if err := stopProcesses(s); err != nil {
		return err
	}
	if err := killContainers(cgroups); err != nil {
		return err
	}
	if err := unmountBelow(ctx, s.state); err != nil {
		return err
	}
	if _, err := os.Stat(s.path("sysctls.json")); err == nil {
		if err := tearDownNetwork(ctx); err != nil {
			return err
		}
		if err := restoreSysctls(s); err != nil {
			return err
		}
	}
	removeCgroups(cgroups)
	removeTraces(s)
	return removeState(s)
}

// stopOrder ends first what would start things anew. The API server ends after its clients.
var stopOrder = []struct {
	name  string
	grace time.Duration
}{
	{"processnode", 10 * time.Second},
	{"kubelet", 5 * time.Second},
	{"kube-proxy", 5 * time.Second},
	{"kube-controller-manager", 5 * time.Second},
	{"kube-scheduler", 5 * time.Second},
	{"coredns", 0},
	{"containerd", 5 * time.Second},
	{"kube-apiserver", 0},
	{"etcd", 2 * time.Second},
}

func stopProcesses(s settings) error {
	for _, entry := range stopOrder {
		if err := s.stop(entry.name, entry.grace); err != nil {
			return err
		}
	}
	for _, name := range s.recorded() {
		if err := s.stop(name, 5*time.Second); err != nil {
			return err
		}
	}
	// Shims of containers, pods of the process node, and what lost its pid file.
	for _, record := range markedProcesses(s.state) {
		if err := terminate(record, 0); err != nil {
			return fmt.Errorf("end a leftover process: %w", err)
		}
	}
	return nil
}

// containerCgroups lists the cgroups of our containers in every hierarchy: those whose names
// containerd's state folder knows.
func containerCgroups(s settings) []string {
	var folders []string
	for _, pattern := range []string{
		s.path("containerd", "run", "io.containerd.runtime.v2.task", containerNamespace, "*"),
		s.path("containerd", "runc", containerNamespace, "*"),
	} {
		tasks, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		for _, task := range tasks {
			for _, hierarchy := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
				found, err := filepath.Glob(filepath.Join(hierarchy, containerNamespace, filepath.Base(task)))
				if err == nil {
					folders = append(folders, found...)
				}
			}
		}
	}
	return folders
}

// killContainers ends every process inside the cgroups.
func killContainers(cgroups []string) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		pids := pidsInside(cgroups)
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes of containers do not end: %v", pids)
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("end process %d of a container: %w", pid, err)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func pidsInside(cgroups []string) []int {
	var pids []int
	for _, folder := range cgroups {
		content, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(content)) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err == nil && pid > 1 {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// removeCgroups removes the groups of our containers, and their parent where it is empty then:
// a group that holds anything cannot be removed.
func removeCgroups(cgroups []string) {
	parents := map[string]bool{}
	for _, folder := range cgroups {
		removeGroup(folder)
		parents[filepath.Dir(folder)] = true
	}
	for _, hierarchy := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
		found, err := filepath.Glob(filepath.Join(hierarchy, containerNamespace))
		if err != nil {
			continue
		}
		for _, parent := range found {
			parents[parent] = true
		}
	}
	for parent := range parents {
		_ = syscall.Rmdir(parent)
	}
}

func removeGroup(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() {
			removeGroup(filepath.Join(folder, entry.Name()))
		}
	}
	_ = syscall.Rmdir(folder)
}

// mountsBelow lists the mount points inside dir, the innermost first.
func mountsBelow(dir string) ([]string, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	return parseMounts(string(content), dir), nil
}

func parseMounts(mountinfo, dir string) []string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var points []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := unescape.Replace(fields[4])
		if strings.HasPrefix(point, dir+"/") {
			points = append(points, point)
		}
	}
	// A mount point always sorts before what is inside it.
	slices.Sort(points)
	slices.Reverse(points)
	return points
}

func unmountBelow(ctx context.Context, dir string) error {
	points, err := mountsBelow(dir)
	if err != nil {
		return err
	}
	for _, point := range points {
		if _, err := run(ctx, "umount", point); err == nil {
			continue
		}
		if _, err := run(ctx, "umount", "--lazy", point); err != nil {
			return err
		}
	}
	if left, err := mountsBelow(dir); err != nil || len(left) > 0 {
		return errors.Join(err, fmt.Errorf("still mounted: %v", left))
	}
	return nil
}

// removeTraces deletes what the kubelet and the network plugins keep outside the state folder,
// at paths that cannot be configured.
func removeTraces(s settings) {
	links, err := filepath.Glob("/var/log/containers/*")
	if err == nil {
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, s.state+"/") {
				_ = os.Remove(link)
			}
		}
	}
	if results, err := filepath.Glob("/var/lib/cni/results/hookonce-*"); err == nil {
		for _, result := range results {
			_ = os.Remove(result)
		}
	}
	const deviceSocket = "/var/lib/kubelet/device-plugins/kubelet.sock"
	if connection, err := net.DialTimeout("unix", deviceSocket, time.Second); err == nil {
		_ = connection.Close() // another kubelet's
	} else {
		_ = os.Remove(deviceSocket)
	}
	for _, dir := range []string{
		"/var/log/containers", "/var/lib/cni/results", "/var/lib/cni",
		"/var/lib/kubelet/device-plugins", "/var/lib/kubelet",
	} {
		_ = syscall.Rmdir(dir)
	}
}

// removeState empties the state folder except for the logs. It refuses while anything is
// mounted inside, lest it delete through the mount.
func removeState(s settings) error {
	if left, err := mountsBelow(s.state); err != nil || len(left) > 0 {
		return errors.Join(err, fmt.Errorf("not deleting %s: still mounted: %v", s.state, left))
	}
	entries, err := os.ReadDir(s.state)
	if err != nil {
		return fmt.Errorf("list the state folder: %w", err)
	}
	for _, entry := range entries {
		if keptByDown[entry.Name()] {
			continue
		}
		if err := os.RemoveAll(s.path(entry.Name())); err != nil {
			return fmt.Errorf("remove the state of the cluster: %w", err)
		}
	}
	return nil
}
