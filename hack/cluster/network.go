// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// touchedSysctls are the kernel settings which this program, the kubelet or kube-proxy change.
var touchedSysctls = []string{
	"net/ipv4/ip_forward",
	"net/ipv4/conf/all/route_localnet",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
	"kernel/panic",
	"kernel/panic_on_oops",
	"kernel/keys/root_maxkeys",
	"kernel/keys/root_maxbytes",
	"net/netfilter/nf_conntrack_max",
	"net/netfilter/nf_conntrack_tcp_timeout_established",
	"net/netfilter/nf_conntrack_tcp_timeout_close_wait",
}

// run executes a command and returns its output; an error holds what the command said.
func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	return runWithInput(ctx, nil, name, args...)
}

func runWithInput(ctx context.Context, input []byte, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, diagnostics bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &diagnostics
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, lastLines(diagnostics.Bytes(), 5))
	}
	return out.Bytes(), nil
}

// setUpNetwork makes the bridge of the pods, with the host's own address on it, and lets the
// host forward and translate for them.
func setUpNetwork(ctx context.Context, s settings) error {
	if err := checkAddressesFree(); err != nil {
		return err
	}
	if err := rememberSysctls(s); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"link", "add", bridgeName, "address", bridgeMAC, "type", "bridge"},
		{"address", "add", gatewayIP + "/" + gatewayBits, "dev", bridgeName},
		{"link", "set", bridgeName, "up"},
		// The host reaches Services also when it has no default route.
		{"route", "add", serviceCIDR, "dev", bridgeName, "src", gatewayIP},
	} {
		if _, err := run(ctx, "ip", args...); err != nil {
			return err
		}
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600); err != nil {
		return fmt.Errorf("let the host forward packets: %w", err)
	}
	rules := fmt.Sprintf(`table ip %s {
	chain postrouting {
		type nat hook postrouting priority srcnat;
		ip saddr %s oifname != %q masquerade
	}
}
`, nftTable, podCIDR, bridgeName)
	_, err := runWithInput(ctx, []byte(rules), "nft", "-f", "-")
	return err
}

// checkAddressesFree refuses to start where another network uses our ranges.
func checkAddressesFree() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list network interfaces: %w", err)
	}
	for _, cidr := range []string{podCIDR, serviceCIDR} {
		_, ours, err := net.ParseCIDR(cidr)
		if err != nil {
			return fmt.Errorf("parse %s: %w", cidr, err)
		}
		for _, i := range interfaces {
			addresses, err := i.Addrs()
			if err != nil {
				return fmt.Errorf("list the addresses of %s: %w", i.Name, err)
			}
			for _, address := range addresses {
				theirs, ok := address.(*net.IPNet)
				if ok && (ours.Contains(theirs.IP) || theirs.Contains(ours.IP)) {
					return fmt.Errorf("interface %s holds %s, which the cluster needs for %s", i.Name, address, cidr)
				}
			}
		}
	}
	return nil
}

// sysctlMemory is what the settings were before the cluster, in this boot of the machine.
type sysctlMemory struct {
	Boot   string            `json:"boot"`
	Values map[string]string `json:"values"`
}

func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

func rememberSysctls(s settings) error {
	memory := sysctlMemory{Boot: bootID(), Values: map[string]string{}}
	for _, name := range touchedSysctls {
		value, err := os.ReadFile(filepath.Join("/proc/sys", name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read sysctl %s: %w", name, err)
		}
		memory.Values[name] = strings.TrimSpace(string(value))
	}
	content, err := json.Marshal(memory)
	if err != nil {
		return fmt.Errorf("encode sysctls: %w", err)
	}
	return writeFile(s.path("sysctls.json"), content)
}

// restoreSysctls puts back what differs from before. After a reboot there is nothing to undo.
func restoreSysctls(s settings) error {
	content, err := os.ReadFile(s.path("sysctls.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the former sysctls: %w", err)
	}
	var memory sysctlMemory
	if err := json.Unmarshal(content, &memory); err != nil {
		return fmt.Errorf("parse the former sysctls: %w", err)
	}
	if memory.Boot != bootID() {
		return nil
	}
	for name, value := range memory.Values {
		path := filepath.Join("/proc/sys", name)
		current, err := os.ReadFile(path)
		if err == nil && strings.TrimSpace(string(current)) == value {
			continue
		}
		if err := os.WriteFile(path, []byte(value), 0o600); err != nil {
			return fmt.Errorf("restore sysctl %s: %w", name, err)
		}
	}
	return nil
}

// tearDownNetwork removes the bridge, the pods' ends of it, and the rules of the host.
func tearDownNetwork(ctx context.Context) error {
	ports, err := filepath.Glob("/sys/class/net/" + bridgeName + "/brif/*")
	if err != nil {
		return fmt.Errorf("list the ports of the bridge: %w", err)
	}
	for _, port := range ports {
		if err := removeLink(ctx, filepath.Base(port)); err != nil {
			return err
		}
	}
	if err := removeLink(ctx, bridgeName); err != nil {
		return err
	}
	tables, err := run(ctx, "nft", "list", "tables")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(tables)) {
		fields := strings.Fields(line) // table ip kube-proxy
		if len(fields) != 3 || fields[2] != nftTable && fields[2] != "kube-proxy" {
			continue
		}
		if _, err := run(ctx, "nft", "delete", "table", fields[1], fields[2]); err != nil {
			return err
		}
	}
	return nil
}

func removeLink(ctx context.Context, name string) error {
	if !linkExists(name) {
		return nil
	}
	if _, err := run(ctx, "ip", "link", "delete", name); err != nil && linkExists(name) {
		return err
	}
	return nil
}

func linkExists(name string) bool {
	_, err := os.Stat("/sys/class/net/" + name)
	return err == nil
}
