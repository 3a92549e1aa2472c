// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"context"
	"sync/atomic"
	"time"
)

// sharing is the part of a deadline by which requests share one: a timer for each of them would cost more than all that is
// done for it here.
const sharing = 40

// deadlines gives out contexts that end within a time.
type deadlines struct {
	within time.Duration
	shared atomic.Pointer[sharedDeadline]
}

type sharedDeadline struct {
	context.Context //nolint:containedctx // it is what is shared

	// until is the end of the time in which it is given out.
	until time.Time
}

// next returns a context that ends after within, or up to a fortieth of it earlier, and by nothing else.
func (d *deadlines) next(now time.Time) context.Context {
	if s := d.shared.Load(); s != nil && now.Before(s.until) {
		return s.Context
	}
	// It is ended by its timer alone, since nobody knows who is the last to use it.
	ctx, cancel := context.WithDeadline(context.Background(), now.Add(d.within)) //nolint:forbidigo // of no request: many share it
	context.AfterFunc(ctx, cancel)
	s := &sharedDeadline{Context: ctx, until: now.Add(d.within / sharing)}
	d.shared.Store(s)
	return ctx
}

// recording is the context in which an event is recorded: the values are the request's, and the end is not. What was
// verified is recorded, and the provider's retry gets its answer.
type recording struct {
	context.Context //nolint:containedctx // it is one itself, of two

	request context.Context //nolint:containedctx // its values are passed on, and nothing else
}

// Value looks at the deadline first: contexts that are derived from this one find it there.
func (r *recording) Value(key any) any {
	if value := r.Context.Value(key); value != nil {
		return value
	}
	return r.request.Value(key)
}
