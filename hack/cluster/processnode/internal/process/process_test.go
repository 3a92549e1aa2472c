// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test binary play the other processes.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "guard":
		if err := RunGuard(os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) > 1 && os.Args[1] == "node":
		fmt.Println(playNode())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// playNode starts a process with a child of its own, tells their ids, and waits to be killed.
func playNode() error {
	guard, err := StartGuard(os.Args[0], "guard")
	if err == nil {
		_, err = NewStarter(guard).Start(Spec{Path: "/bin/sh", Args: []string{"-c", "sleep 600 & echo $$ $!; wait"}, Output: os.Stdout})
	}
	if err != nil {
		return err
	}
	select {}
}

func newStarter(t *testing.T) *Starter {
	t.Helper()
	guard, err := StartGuard(os.Args[0], "guard")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := guard.Close(); err != nil {
			t.Error(err)
		}
	})
	return NewStarter(guard)
}

func start(t *testing.T, script string) (*Process, func() string) {
	t.Helper()
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	p, err := newStarter(t).Start(Spec{
		Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"A=1"}, Dir: "/", Output: output,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, func() string {
		content, err := os.ReadFile(output.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
}

func wait(t *testing.T, p *Process) Exit {
	t.Helper()
	select {
	case <-p.Ended():
		return p.Exit()
	case <-time.After(10 * time.Second):
		t.Fatal("the process does not end")
		return Exit{}
	}
}

func TestExit(t *testing.T) {
	for script, want := range map[string]Exit{
		"echo out; echo err >&2": {Code: 0},
		"echo out; exit 3":       {Code: 3},
		"echo out; kill -9 $$":   {Code: 137, Signal: 9},
	} {
		p, output := start(t, script)
		got := wait(t, p)
		got.At = time.Time{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", script, diff)
		}
		if !strings.Contains(output(), "out") {
			t.Errorf("%s: output is %q", script, output())
		}
	}
}

func TestEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("FROM_THE_NODE", "yes")
	p, output := start(t, `echo "<$A$FROM_THE_NODE>"`)
	wait(t, p)
	if output() != "<1>\n" {
		t.Errorf("output is %q", output())
	}
}

func TestNoEnvironmentIsNone(t *testing.T) {
	t.Setenv("FROM_THE_NODE", "yes")
	p, err := newStarter(t).Start(Spec{Path: "/bin/sh", Args: []string{"-c", "test -z $FROM_THE_NODE"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := wait(t, p); got.Code != 0 {
		t.Errorf("the process has the node's environment: it ended with %+v", got)
	}
}

func TestSignalReachesTheGroup(t *testing.T) {
	p, _ := start(t, "sleep 600 & wait")
	p.Signal(syscall.SIGTERM)
	if got := wait(t, p); got.Signal != int(syscall.SIGTERM) {
		t.Errorf("the process ended with %+v", got)
	}
	waitGone(t, p.PID())
}

func TestGroupEndsWithItsLeader(t *testing.T) {
	p, output := start(t, "sleep 600 & echo $!")
	wait(t, p)
	child, err := strconv.Atoi(strings.TrimSpace(output()))
	if err != nil {
		t.Fatal(err)
	}
	waitGone(t, child)
}

func TestStartFails(t *testing.T) {
	_, err := newStarter(t).Start(Spec{Path: "/no/such/program"})
	if err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("error is %v", err)
	}
}

// No process survives the node, even one that the node did not start itself, and even when the
// node has no time to do anything about it.
func TestNothingSurvivesTheNode(t *testing.T) {
	node := exec.Command(os.Args[0], "node")
	output, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	var parent, child int
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &parent, &child); err != nil {
		t.Fatalf("the node said %q: %v", line, err)
	}
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait()
	waitGone(t, parent)
	waitGone(t, child)
}

// waitGone waits until the process is no longer there; a zombie counts as gone, because nobody
// may be there to collect it.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func alive(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}
