// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"time"
)

func (b *bench) publish(context.Context, time.Time) error { return nil }
