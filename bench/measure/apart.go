// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Apart gives the first processor that this process may use to the process first, and all others to the processes in others
// and to their children, until the function that it returns is called. With one processor it does nothing. Threads and
// processes that they start later stay where they are.
func Apart(first int, others ...int) (together func() error, err error) {
	var all, one, rest unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, fmt.Errorf("ask for the processors: %w", err)
	}
	const least = 2
	if all.Count() < least {
		return func() error { return nil }, nil
	}
	rest = all
	for cpu := 0; ; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
			rest.Clear(cpu)
			break
		}
	}
	together = func() error { return errors.Join(place(&all, first), placeTrees(&all, others)) }
	return together, errors.Join(place(&one, first), placeTrees(&rest, others))
}

func placeTrees(on *unix.CPUSet, roots []int) error {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	for _, root := range roots {
		err = errors.Join(err, place(on, root))
		for _, dir := range dirs {
			child, _ := strconv.Atoi(filepath.Base(dir))
			if p, unread := readProcess(child); unread == nil && p.parent == root {
				err = errors.Join(err, place(on, child))
			}
		}
	}
	return err
}

// place moves the threads of a process. Those that have ended meanwhile need no place.
func place(on *unix.CPUSet, pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	for _, dir := range threads {
		thread, _ := strconv.Atoi(filepath.Base(dir))
		if err := unix.SchedSetaffinity(thread, on); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("choose the processors of process %d: %w", pid, err)
		}
	}
	return nil
}
