// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/pod"
)

// followInterval is how often a followed log is looked at again.
const followInterval = 200 * time.Millisecond

// GetContainerLogs opens the output of a container's current or previous run, for `kubectl logs`.
// Timestamps and sinceTime are ignored: the lines are stored as the program wrote them.
func (p *Provider) GetContainerLogs(
	ctx context.Context, namespace, podName, container string, opts api.ContainerLogOpts,
) (io.ReadCloser, error) {
	var found *entry
	for _, e := range p.all() {
		if e.namespace == namespace && e.name == podName {
			found = e
		}
	}
	if found == nil {
		return nil, errdefs.NotFoundf("no pod %s/%s on this node", namespace, podName)
	}
	part, ok := found.Log(container, opts.Previous)
	if !ok {
		return nil, errdefs.NotFoundf("container %s of pod %s/%s has no such run", container, namespace, podName)
	}
	live := func() bool {
		now, ok := found.Log(container, false)
		return ok && now.From == part.From && now.Live
	}
	return openLog(ctx, part, opts, live)
}

type logReader struct {
	io.Reader
	io.Closer
}

func openLog(ctx context.Context, part pod.Log, opts api.ContainerLogOpts, live func() bool) (io.ReadCloser, error) {
	file, err := os.Open(part.Path)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	from := part.From
	if opts.Tail > 0 {
		if from, err = tailStart(file, part, opts.Tail); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("find the run in the log: %w", err), file.Close())
	}
	var reader io.Reader = file
	switch {
	case part.To >= 0:
		reader = io.LimitReader(file, part.To-from)
	case opts.Follow:
		reader = &follower{done: ctx.Done(), file: file, live: live}
	}
	if opts.LimitBytes > 0 {
		reader = io.LimitReader(reader, int64(opts.LimitBytes))
	}
	return logReader{reader, file}, nil
}

// tailStart finds where the last lines begin.
func tailStart(file *os.File, part pod.Log, lines int) (int64, error) {
	to := part.To
	if to < 0 {
		info, err := file.Stat()
		if err != nil {
			return 0, fmt.Errorf("look at the log: %w", err)
		}
		to = info.Size()
	}
	starts := []int64{part.From}
	reader := bufio.NewReader(io.NewSectionReader(file, part.From, to-part.From))
	for at := part.From; ; {
		line, err := reader.ReadSlice('\n')
		at += int64(len(line))
		switch {
		case err == nil && at < to:
			starts = append(starts, at)
			starts = starts[max(0, len(starts)-lines):]
		case errors.Is(err, io.EOF) || err == nil:
			return starts[0], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, fmt.Errorf("read the log: %w", err)
		}
	}
}

// follower reads on while the run goes on.
type follower struct {
	done <-chan struct{} // the caller is gone
	file *os.File
	live func() bool
}

func (f *follower) Read(buffer []byte) (int, error) {
	for {
		alive := f.live()
		n, err := f.file.Read(buffer)
		if n > 0 || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		if !alive {
			return 0, io.EOF
		}
		select {
		case <-f.done:
			return 0, io.EOF
		case <-time.After(followInterval):
		}
	}
}
