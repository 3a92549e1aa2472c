// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint

import (
	"context"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/reconcile"
	"github.com/hookonce/hookonce/internal/render"
)

// readConfig renders what receivers are told. A spec that cannot be used stops the acting, not the looking: receivers go
// on with what they have.
func (r *Reconciler) readConfig(_ context.Context, p *pass) error {
	config, err := render.Config(p.endpoint)
	if err != nil {
		p.stop(reconcile.Terminal(v1alpha1.ReasonInvalidSpec, "The spec cannot be used: %s", err))
		return nil
	}
	document, err := config.Encode()
	if err != nil {
		p.stop(reconcile.Terminal(v1alpha1.ReasonInvalidSpec, "The spec cannot be used: %s", err))
		return nil
	}
	p.config, p.document = config, document
	return nil
}
