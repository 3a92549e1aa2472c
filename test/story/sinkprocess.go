// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// sinkPort is the port of the sink on this machine.
const sinkPort = 8099

func (w *World) sinkFile() string { return filepath.Join(w.State, "calls.jsonl") }

// sinkArgument tells this story's sink from every other process.
func (w *World) sinkArgument() string { return "--file=" + w.sinkFile() }

// StartSink starts the sink in the background, where it outlives the story, and waits until it answers.
func (w *World) StartSink(ctx context.Context) error {
	running, err := processesWith(w.sinkArgument())
	if err != nil || len(running) > 0 {
		return err
	}
	address := net.JoinHostPort(w.cluster.host, strconv.Itoa(sinkPort))
	process := exec.Command(filepath.Join(w.Root, "bin", "demo-sink"), "--address="+address, w.sinkArgument())
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := process.Start(); err != nil {
		return fmt.Errorf("start the sink: %w", err)
	}
	// The sink is meant to outlive this process; waiting only keeps it from staying a zombie when it ends first.
	go func() { _ = process.Wait() }()
	return Eventually(ctx, 10*time.Second, 50*time.Millisecond, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("the sink does not answer: %w", err)
		}
		return conn.Close()
	})
}

// StopSink ends the sink, so that its address refuses connections.
func (w *World) StopSink(ctx context.Context) error {
	running, err := processesWith(w.sinkArgument())
	if err != nil {
		return err
	}
	for _, pid := range running {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the sink: %w", err)
		}
	}
	return Eventually(ctx, 10*time.Second, 50*time.Millisecond, func(context.Context) error {
		running, err := processesWith(w.sinkArgument())
		if err == nil && len(running) > 0 {
			err = errors.New("the sink still runs")
		}
		return err
	})
}

// calls returns what the sink got for one event.
func (w *World) calls(eventID string) ([]Call, error) {
	all, err := readCalls(w.sinkFile())
	if err != nil {
		return nil, err
	}
	var calls []Call
	for _, call := range all {
		if call.EventID == eventID {
			calls = append(calls, call)
		}
	}
	return calls, nil
}

// expectOneCall waits until nothing is pending for an event any more and asserts that the sink was called once for it.
func (w *World) expectOneCall(ctx context.Context, eventID string) (Call, error) {
	const pending = `SELECT count(*) FROM hookonce.delivery d JOIN hookonce.event e ON e.id = d.event WHERE e.event_id = $1`
	err := Eventually(ctx, 15*time.Second, 200*time.Millisecond, func(ctx context.Context) error {
		n, err := w.Count(ctx, pending, eventID)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d deliveries of %s are pending", n, eventID)
		}
		return err
	})
	if err != nil {
		return Call{}, err
	}
	calls, err := w.calls(eventID)
	if err != nil {
		return Call{}, err
	}
	if len(calls) != 1 {
		return Call{}, fmt.Errorf("the sink was called %d times for %s instead of once", len(calls), eventID)
	}
	w.Say("  calls at the sink: 1, Idempotency-Key %s", calls[0].Key)
	return calls[0], nil
}
