// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// toxics are the links that can be made slow, reset and cut.
type toxics struct{ server *toxiproxy.ApiServer }

func newToxics() *toxics {
	return &toxics{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())}
}

// link is one proxied address.
type link struct{ *toxiproxy.Proxy }

func (x *toxics) link(t *testing.T, name, upstream string) *link {
	t.Helper()
	l := &link{toxiproxy.NewProxy(x.server, name, address(freePort(t)), upstream)}
	must(t, l.Start())
	t.Cleanup(l.Stop)
	return l
}

// afflict makes the link suffer for a while. Its address and its connections stay.
func (l *link) afflict(ctx context.Context, kind, stream string, attributes map[string]int, span time.Duration) error {
	name := kind + "-" + stream
	toxic, err := json.Marshal(map[string]any{
		"name": name, "type": kind, "stream": stream, "toxicity": 1.0, "attributes": attributes,
	})
	if err != nil {
		return fmt.Errorf("describe a toxic: %w", err)
	}
	if _, err := l.Toxics.AddToxicJson(strings.NewReader(string(toxic))); err != nil {
		return fmt.Errorf("add a toxic: %w", err)
	}
	rest(ctx, span)
	if err := l.Toxics.RemoveToxic(context.WithoutCancel(ctx), name); err != nil {
		return fmt.Errorf("remove a toxic: %w", err)
	}
	return nil
}

// part closes all connections and refuses new ones for a while.
func (l *link) part(ctx context.Context, span time.Duration) error {
	l.Stop()
	rest(ctx, span)
	if err := l.Start(); err != nil {
		return fmt.Errorf("restore a link: %w", err)
	}
	return nil
}
